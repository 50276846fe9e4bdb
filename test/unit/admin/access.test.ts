import { expect, it } from 'vitest';
import { type AccessKey, createAccess, hashSecret, isAllowed } from '../../../src/admin/access.ts';

const admin: AccessKey = { keyId: 'admin', scopes: ['admin'], hash: hashSecret('admin-secret') };
const client: AccessKey = { keyId: 'client', scopes: ['call'], hash: hashSecret('client-secret') };

it('knows a key by its secret alone, whichever of those presented it is', () => {
  const access = createAccess([admin, client]);
  expect(access.identify(['wrong', 'client-secret'])?.keyId).toBe('client');
  expect(access.identify(['admin-secret'])?.keyId).toBe('admin');
  expect(access.identify([])).toBeNull();
  for (const wrong of [
    '',
    ' ',
    'client-secre',
    'client-secret ',
    'CLIENT-SECRET',
    'x'.repeat(13),
  ]) {
    expect(access.identify([wrong])).toBeNull();
  }
});

it('the admin key may do everything and does not close the data plane', () => {
  expect(createAccess([admin]).hasCallKey()).toBe(false);
  expect(createAccess([admin, client]).hasCallKey()).toBe(true);
  expect(isAllowed(admin, 'call')).toBe(true);
  expect(isAllowed(admin, 'log')).toBe(true);
  expect(isAllowed(client, 'log')).toBe(false);
  expect(isAllowed(client, 'admin')).toBe(false);
});
