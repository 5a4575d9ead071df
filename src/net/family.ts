/** IP family, spelled as EndpointSlices and Services spell it. */
export type Family = 'IPv4' | 'IPv6';

export const FAMILIES: readonly Family[] = ['IPv4', 'IPv6'];
