// Who may see the page.

import assert from 'node:assert/strict';
import { pageTest, says } from './harness.mjs';

pageTest('the token of the address logs in and is gone from it and from the history', async ({ server, visitor }) => {
  const page = await visitor.open(server.login);
  const places = await page.evaluate(() => [location.href, document.referrer, ...navigation.entries().map(({ url }) => url)]);
  assert.ok(!places.some((place) => place.includes(server.token)), places.join(' '));
  await says(page, '#empty h2', 'No sessions yet');
  for (const request of page.requests) {
    assert.ok(!request.url().includes(server.token), request.url());
  }
  await page.goto('about:blank');
  await page.goto(server.url); // without a token
  await page.waitForSelector('body[data-view=main]');
});

pageTest('without a login the page asks for the token, and says when it is wrong', async ({ server, visitor }) => {
  const page = await visitor.tab();
  await page.goto(server.url);
  await page.fill('#token', 'guess');
  await page.keyboard.press('Enter');
  await page.waitForSelector('#login .error:not([hidden])');
  await says(page, '#login .error', 'This token is not the server’s.');
  await page.fill('#token', server.token);
  await page.keyboard.press('Enter');
  await page.waitForSelector('body[data-view=main]');
});

pageTest('the address with the token logs in where it is put: over that of the login, or in its field with all of its line', async ({ server, visitor }) => {
  const page = await visitor.tab();
  await page.goto(server.url);
  await page.waitForSelector('#token:focus');
  await page.goto(server.login.replace(server.token, 'guess')); // only the fragment changes
  await says(page, '#login .error', 'This token is not the server’s.');
  assert.equal(page.url(), server.url);
  await page.goto(server.login);
  await page.waitForSelector('body[data-view=main]');
  assert.equal(page.url(), server.url);

  await visitor.context.clearCookies();
  await page.goto(server.url);
  await page.fill('#token', `listening on ${server.login}`);
  await page.keyboard.press('Enter');
  await page.waitForSelector('body[data-view=main]');
});
