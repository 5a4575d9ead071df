/** A string or template of a source file; what a template puts in reads as `…`. */
export interface SourceText {
  readonly text: string;
  /** The code before it, on the same line and the two above. */
  readonly before: string;
}

/** Every string and template of TypeScript code, the ones inside of templates too, without comments and patterns. */
export function textsOf(code: string): readonly SourceText[] {
  const found: SourceText[] = [];
  scan(code, 0, found);
  return found;
}

/** Reads code up to the brace that closes a template's hole, or to the end; gives where it stopped. */
function scan(code: string, start: number, found: SourceText[]): number {
  let depth = 0;
  for (let at = start; at < code.length; at += 1) {
    const two = code.slice(at, at + 2);
    const char = code[at] ?? '';
    if (two === '//') at = endOf(code, '\n', at);
    else if (two === '/*') at = endOf(code, '*/', at) + 1;
    else if (char === '/' && /[=(,:?[!&|{};]\s*$|return\s*$|=>\s*$/.test(code.slice(Math.max(0, at - 12), at))) {
      at = endOfPattern(code, at);
    } else if (char === '`') at = template(code, at, found);
    else if (char === "'" || char === '"') {
      const end = endOfString(code, at, char);
      found.push({
        text: code
          .slice(at + 1, end)
          .replaceAll('\\n', ' ')
          .replace(/\\(.)/g, '$1'),
        before: beforeOf(code, at),
      });
      at = end;
    } else if (char === '{') depth += 1;
    else if (char === '}') {
      if (depth === 0) return at;
      depth -= 1;
    }
  }
  return code.length;
}

function template(code: string, start: number, found: SourceText[]): number {
  let text = '';
  let at = start + 1;
  for (; at < code.length && code[at] !== '`'; at += 1) {
    if (code[at] === '\\') {
      at += 1;
      text += code[at];
    } else if (code.startsWith('${', at)) {
      at = scan(code, at + 2, found);
      text += '…';
    } else text += code[at];
  }
  found.push({ text, before: beforeOf(code, start) });
  return at;
}

function endOf(code: string, mark: string, from: number): number {
  const end = code.indexOf(mark, from + 1);
  return end < 0 ? code.length : end;
}

function endOfString(code: string, start: number, quote: string): number {
  let at = start + 1;
  while (at < code.length && code[at] !== quote) at += code[at] === '\\' ? 2 : 1;
  return at;
}

function endOfPattern(code: string, start: number): number {
  let isInClass = false;
  let at = start + 1;
  for (; at < code.length && (isInClass || code[at] !== '/'); at += 1) {
    if (code[at] === '\\') at += 1;
    else if (code[at] === '[') isInClass = true;
    else if (code[at] === ']') isInClass = false;
  }
  return at;
}

function beforeOf(code: string, at: number): string {
  const lines = code.slice(0, at).split('\n').slice(-3);
  return lines.join(' ').replace(/\s+/g, ' ').trimStart();
}
