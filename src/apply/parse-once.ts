/** The same parser, which gives the same object again for a text that is the same as the last one. What it gives must not be changed. */
export function parseOnce<T>(parse: (text: string) => T): (text: string) => T {
  let last: { readonly text: string; readonly parsed: T } | undefined;
  return (text) => {
    if (last?.text !== text) last = { text, parsed: parse(text) };
    return last.parsed;
  };
}
