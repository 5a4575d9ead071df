import { expect } from 'chai';
import { formatTraceEvent, parseTraceEvent } from './trace-event.ts';

describe('replay/trace-event', () => {
  const service = { apiVersion: 'v1', kind: 'Service', metadata: { name: 'cart', resourceVersion: '1' } };
  const line = (given: object) => JSON.stringify({ atMs: 5, type: 'ADDED', object: service, ...given });

  it('reads what it writes', () => {
    const event = { atMs: 120.5, type: 'MODIFIED', object: service } as const;
    expect(parseTraceEvent(formatTraceEvent(event))).to.deep.equal({ ok: true, value: { ...event, kind: 'Service' } });
  });

  const faults: readonly (readonly [string, string])[] = [
    ['{"atMs": 1,', 'it is not JSON: '],
    ['[]', 'it is not a JSON object'],
    ['null', 'it is not a JSON object'],
    [line({ atMs: -1 }), 'atMs is -1, a number of milliseconds from 0 to 9007199254740991 is needed'],
    [line({ atMs: null }), 'atMs is null, a number'],
    [line({ atMs: 2 ** 53 }), 'atMs is 9007199254740992, a number'],
    ['{"atMs": 1e999, "type": "ADDED"}', 'atMs is Infinity, a number'],
    [line({ atMs: '5' }), 'atMs is "5", a number'],
    [line({ type: 'BOOKMARK' }), 'type is "BOOKMARK", none of ADDED, MODIFIED, DELETED'],
    [line({ object: undefined }), 'object.kind is undefined, none of Service, EndpointSlice, Node'],
    [line({ object: { ...service, kind: 'Pod' } }), 'object.kind is "Pod", none of'],
    [
      line({ object: { ...service, kind: 'EndpointSlice' } }),
      'object.apiVersion is "v1", a EndpointSlice of discovery',
    ],
    [line({ object: { ...service, metadata: { resourceVersion: '1' } } }), 'object.metadata.name is missing'],
    [line({ object: { ...service, metadata: { name: 'cart' } } }), 'object.metadata.resourceVersion is missing'],
  ];
  for (const [text, message] of faults) {
    it(`says what is wrong with ${text}`, () => {
      const parsed = parseTraceEvent(text);
      expect(parsed.ok).to.equal(false);
      expect(parsed.ok ? '' : parsed.error).to.include(message);
    });
  }
});
