package main

// shellScripts are what "completion" prints. They know nothing of our commands:
// they hand over the words as they were typed, and offer what comes back, one
// line each, a word and what it means with a tab between them. Words come from
// anywhere, so that each script quotes them as its shell does and evaluates
// nothing.
var shellScripts = map[string]string{
	"bash": `# bash completion of holdfast

_holdfast() {
	local kind line quoted cur=${COMP_WORDS[COMP_CWORD]}
	COMPREPLY=()
	[[ $cur == [\'\"]* ]] && quoted=1
	{
		IFS= read -r kind
		while IFS= read -r line; do
			line=${line%%$'\t'*}
			if [[ -z $quoted ]]; then
				printf -v line %q "$line"
			elif [[ $line == *[\'\"\$\` + "`" + `\\!]* ]]; then
				continue
			fi
			COMPREPLY+=("$line")
		done
	} < <("${COMP_WORDS[0]/#\~/$HOME}" completion words "${COMP_WORDS[@]:1:COMP_CWORD}" 2>/dev/null)
	if [[ $kind == commands ]]; then
		while IFS= read -r line; do
			printf -v line %q "$line"
			COMPREPLY+=("$line")
		done < <(compgen -c -- "$cur")
	fi
	[[ $kind != words ]] && compopt -o default 2>/dev/null
	return 0
}
complete -F _holdfast holdfast
`,
	"zsh": `#compdef holdfast
# zsh completion of holdfast

_holdfast() {
	local line
	local -a lines found shown
	lines=("${(@f)$("${words[1]/#\~/$HOME}" completion words "${(@)words[2,CURRENT]}" 2>/dev/null)}")
	if [[ $lines[1] == files ]]; then
		_files
		return
	elif [[ $lines[1] == commands ]]; then
		_command_names -e
		return
	fi
	for line in "${(@)lines[2,-1]}"; do
		found+=("${line%%$'\t'*}")
		shown+=("${line/$'\t'/  }")
	done
	compadd -l -d shown -a found
}
if [[ $zsh_eval_context[-1] == loadautofunc ]]; then
	_holdfast "$@"
else
	compdef _holdfast holdfast
fi
`,
	"fish": `# fish completion of holdfast

function __holdfast_words
	set -l before (commandline -opc)
	set -l current (commandline -ct)
	set -l program (string replace -r '^~' $HOME -- $before[1])
	set -e before[1]
	set -l lines ($program completion words $before "$current" 2>/dev/null)
	if test "$lines[1]" = files
		__fish_complete_path "$current"
		return
	else if test "$lines[1]" = commands
		__fish_complete_command
		return
	end
	set -e lines[1]
	test (count $lines) -gt 0; and printf '%s\n' $lines
end
complete -c holdfast -f -a '(__holdfast_words)'
`,
}
