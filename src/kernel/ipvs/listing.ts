/**
 * The words of each line, empty lines left out. Listings are long: they are split neither as a whole nor by patterns, which would cost a
 * multiple.
 */
export function* wordsByLine(text: string): Generator<readonly string[]> {
  for (let start = 0; start < text.length; ) {
    const end = lineEnd(text, start);
    const words = wordsOf(text, start, end);
    if (words.length > 0) yield words;
    start = end + 1;
  }
}

/**
 * The part of a listing that tells of one virtual server, for each of them: its line, and the lines after it that begin with a blank. What
 * stands above the first one is left out; it begins with the version, unless `ipvsadm -Ln` was asked for one virtual server.
 */
export function* blocksOf(listing: string): Generator<string> {
  const header = listing.indexOf(LAST_OF_HEADER);
  let start = header < 0 ? 0 : lineEnd(listing, header) + 1;
  while (start < listing.length) {
    let end = lineEnd(listing, start);
    while (listing.charCodeAt(end + 1) === SPACE) end = lineEnd(listing, end + 1);
    yield listing.slice(start, end);
    start = end + 1;
  }
}

/** False for no output at all, and for the output of something else. */
export function isListing(text: string): boolean {
  return text.includes(LAST_OF_HEADER);
}

const LAST_OF_HEADER = '  -> RemoteAddress:Port';

/** Where the line feed stands, or the text ends. */
function lineEnd(text: string, start: number): number {
  const found = text.indexOf('\n', start);
  return found < 0 ? text.length : found;
}

function wordsOf(text: string, start: number, end: number): readonly string[] {
  const words: string[] = [];
  let wordStart = -1;
  for (let at = start; at <= end; at++) {
    const isBlank = at === end || text.charCodeAt(at) <= SPACE;
    if (isBlank && wordStart >= 0) {
      words.push(text.slice(wordStart, at));
      wordStart = -1;
    } else if (!isBlank && wordStart < 0) wordStart = at;
  }
  return words;
}

/** What is less is a tab or another blank. */
const SPACE = 32;
