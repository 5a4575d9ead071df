/** The words of one rule, read from left to right. Everything that is not as expected throws, with the rule in the message. */
export class Words {
  readonly #rule: string;
  readonly #words: readonly string[];
  #at = 0;

  constructor(rule: string) {
    this.#rule = rule;
    this.#words = splitWords(rule);
  }

  /** The word after the next `ahead` ones, without taking it; `undefined` behind the last one. */
  peek(ahead = 0): string | undefined {
    return this.#words[this.#at + ahead];
  }

  take(): string {
    const word = this.peek();
    if (word === undefined) return this.refuse('a rule that ends here');
    this.#at += 1;
    return word;
  }

  /** Takes the word if it is this one, and tells whether it was. */
  takeIf(word: string): boolean {
    const same = this.peek() === word;
    if (same) this.#at += 1;
    return same;
  }

  expect(word: string): void {
    if (!this.takeIf(word)) this.refuse(`${this.peek() ?? 'the end'} where ${word} must stand`);
  }

  refuse(what: string): never {
    throw new Error(`the tracer does not know ${what} in the rule: ${this.#rule}`);
  }
}

/** A word in double quotes is one word; inside, a backslash takes the next character as it is. */
function splitWords(rule: string): readonly string[] {
  const word = /("(?:[^"\\]|\\.)*"|[^\s"]+)(?: |$)/y;
  const words: string[] = [];
  while (word.lastIndex < rule.length) {
    const text = word.exec(rule)?.[1];
    if (text === undefined) throw new Error(`the tracer cannot take apart the rule: ${rule}`);
    words.push(text.startsWith('"') ? text.slice(1, -1).replace(/\\(.)/g, '$1') : text);
  }
  return words;
}
