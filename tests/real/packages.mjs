// The npm packages, which tests/real/setup installs below build/ and not next to
// these files: the source tree holds nothing that is not ours.
import {createRequire} from 'node:module';
import {pathToFileURL} from 'node:url';

const require = createRequire(new URL('../../build/real/package.json', import.meta.url));

// load(name): the package's exports, or an error that says what to do.
export async function load(name) {
  let path;
  try {
    path = require.resolve(name);
  } catch {
    throw new Error(`the npm package ${name} is not there; run tests/real/setup`);
  }
  return import(pathToFileURL(path));
}
