import { Agent as HttpAgent, request as httpRequest } from 'node:http';
import { Agent as HttpsAgent, request as httpsRequest } from 'node:https';
import { isRecord, type JsonRecord } from '../apiserver/api-object.ts';

/** How an API server is reached; `token` is left out where none is asked for. */
export interface ApiAccess {
  readonly url: string;
  /** PEM text of the authority behind its certificate. */
  readonly ca: string | undefined;
  readonly token?: string;
}

/** Requests of a controller or a person. All but `find` throw on any status that is not a success. */
export interface ApiClient {
  create(path: string, object: JsonRecord): Promise<JsonRecord>;
  /** A merge patch: null removes a field. */
  patch(path: string, change: JsonRecord): Promise<JsonRecord>;
  /** Deleting what is gone is fine. */
  remove(path: string): Promise<void>;
  /** Undefined when there is none. */
  find(path: string): Promise<JsonRecord | undefined>;
  close(): void;
}

/** Keeps its connections, so that a request costs no handshake; one that the server has closed meanwhile is tried once more. */
export function createApiClient(access: () => ApiAccess): ApiClient {
  const options = { keepAlive: true, maxSockets: 8 };
  const agents = { http: new HttpAgent(options), https: new HttpsAgent(options) };
  const call = async (method: string, path: string, body?: JsonRecord, type = 'application/json') => {
    const attempt = () => send(agents, access(), { method, path, body, type });
    const answer = await attempt().catch(attempt);
    if (answer.status < 300 || answer.status === 404) return answer;
    throw new Error(`${method} ${path}: status ${answer.status}: ${JSON.stringify(answer.body).slice(0, 500)}`);
  };
  const existing = async (method: string, path: string, body: JsonRecord, type?: string) => {
    const { status, body: object } = await call(method, path, body, type);
    if (status === 404) throw new Error(`${method} ${path}: not found`);
    return object;
  };
  return {
    create: (path, object) => existing('POST', path, object),
    patch: (path, change) => existing('PATCH', path, change, 'application/merge-patch+json'),
    remove: async (path) => {
      await call('DELETE', path);
    },
    find: async (path) => {
      const { status, body } = await call('GET', path);
      return status === 404 ? undefined : body;
    },
    close: () => {
      agents.http.destroy();
      agents.https.destroy();
    },
  };
}

interface Call {
  readonly method: string;
  readonly path: string;
  readonly body: JsonRecord | undefined;
  readonly type: string;
}

interface Agents {
  readonly http: HttpAgent;
  readonly https: HttpsAgent;
}

function send({ http, https }: Agents, { url, ca, token }: ApiAccess, { method, path, body, type }: Call) {
  const { promise, resolve, reject } = Promise.withResolvers<{ readonly status: number; readonly body: JsonRecord }>();
  const text = body === undefined ? '' : JSON.stringify(body);
  const headers = {
    'Content-Type': type,
    'Content-Length': Buffer.byteLength(text),
    ...(token === undefined ? {} : { Authorization: `Bearer ${token}` }),
  };
  const isPlain = url.startsWith('http:');
  const open = isPlain ? httpRequest : httpsRequest;
  const sent = open(`${url}${path}`, { method, headers, ca, agent: isPlain ? http : https }, async (response) => {
    try {
      const chunks: Buffer[] = [];
      for await (const chunk of response) chunks.push(chunk);
      const answer: unknown = JSON.parse(Buffer.concat(chunks).toString());
      resolve({ status: response.statusCode ?? 0, body: isRecord(answer) ? answer : {} });
    } catch (error) {
      reject(error);
    }
  });
  sent.on('error', reject);
  sent.end(text);
  return promise;
}
