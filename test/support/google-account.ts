/** Credentials of Google's cloud that exist nowhere else, and the token service that knows them. */
import { createVerify, generateKeyPairSync } from 'node:crypto';
import { type LoopbackServer, startHttp } from './loopback-server.ts';

const { privateKey, publicKey } = generateKeyPairSync('rsa', {
  modulusLength: 2048,
  privateKeyEncoding: { type: 'pkcs8', format: 'pem' },
  publicKeyEncoding: { type: 'spki', format: 'pem' },
});

export const privateKeyText = privateKey;

export function serviceAccount(tokenUri: string): string {
  const account = {
    type: 'service_account',
    project_id: 'a-project',
    private_key_id: 'k1',
    private_key: privateKey,
    client_email: 'robot@a-project.iam.gserviceaccount.com',
    token_uri: tokenUri,
  };
  // As the console writes such files: over several lines.
  return JSON.stringify(account, null, 2);
}

export function userAccount(tokenUri: string): string {
  return JSON.stringify({
    type: 'authorized_user',
    client_id: 'c1',
    client_secret: 'GOCSPX-CANARY-client-secret',
    refresh_token: '1//0CANARY-refresh-token',
    quota_project_id: 'billed-project',
    token_uri: tokenUri,
  });
}

export type TokenService = LoopbackServer & {
  /** What is answered; a token `ya29.CANARY-N` by default. */
  next: { status: number; body: string } | 'silence' | null;
  expiresIn: number;
  readonly grants: string[];
};

export async function startTokenService(): Promise<TokenService> {
  const grants: string[] = [];
  const server = await startHttp((request, response) => {
    let text = '';
    request.setEncoding('utf8').on('data', (piece: string) => {
      text += piece;
    });
    request.on('end', () => {
      grants.push(grantIn(new URLSearchParams(text)));
      const { next } = service;
      if (next === 'silence') return;
      const token = { access_token: `ya29.CANARY-${grants.length}`, expires_in: service.expiresIn };
      const { status, body } = next ?? { status: 200, body: JSON.stringify(token) };
      response.writeHead(status, { 'content-type': 'application/json' }).end(body);
    });
  });
  const service: TokenService = { ...server, next: null, expiresIn: 3600, grants };
  return service;
}

/** The kind of grant, once its proof was found right. */
function grantIn(form: URLSearchParams): string {
  const kind = form.get('grant_type') ?? '';
  if (kind === 'refresh_token') {
    return form.get('refresh_token') === '1//0CANARY-refresh-token' ? 'refresh' : 'forged';
  }
  if (kind === '') return 'none';
  const [head = '', claims = '', signature = ''] = (form.get('assertion') ?? '').split('.');
  const verify = createVerify('RSA-SHA256').update(`${head}.${claims}`);
  const isRight = verify.verify(publicKey, Buffer.from(signature, 'base64url'));
  const { iss, scope } = JSON.parse(Buffer.from(claims, 'base64url').toString());
  return isRight ? `jwt ${iss} ${scope}` : 'forged';
}
