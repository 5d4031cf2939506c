import { createPrivateKey, createPublicKey, type KeyObject, sign } from 'node:crypto';

// The order of P-256's base point (SEC 2, secp256r1).
const order = 0xffffffff00000000ffffffffffffffffbce6faada7179e84f3b9cac2fc632551n;

/** A P-256 developer key that signs as the platform API wants it. */
export class DeveloperKey {
  readonly #key: KeyObject;

  constructor(pem: string) {
    this.#key = createPrivateKey(pem);
    if (this.#key.asymmetricKeyDetails?.namedCurve !== 'prime256v1') throw new Error('not a P-256 key');
  }

  /** The public half: DER SubjectPublicKeyInfo, base64. */
  get publicKey(): string {
    return createPublicKey(this.#key).export({ type: 'spki', format: 'der' }).toString('base64');
  }

  /** Signs the bytes behind a base64 payload: ECDSA with SHA-256, ASN.1 DER with the low S, base64. */
  sign(payload: string): string {
    const raw = sign('sha256', Buffer.from(payload, 'base64'), { key: this.#key, dsaEncoding: 'ieee-p1363' });
    const r = raw.subarray(0, 32);
    const s = BigInt('0x' + raw.subarray(32).toString('hex'));
    const low = s > order / 2n ? order - s : s;
    return sequence(integer(r), integer(Buffer.from(low.toString(16).padStart(64, '0'), 'hex'))).toString('base64');
  }
}

// ASN.1 DER of the two integers of a signature; their lengths fit one byte.
function integer(unsigned: Buffer): Buffer {
  let start = 0;
  while (start < unsigned.length - 1 && unsigned[start] === 0) start++;
  const digits = unsigned.subarray(start);
  const value = digits[0]! >= 0x80 ? Buffer.concat([Buffer.of(0), digits]) : digits;
  return Buffer.concat([Buffer.of(0x02, value.length), value]);
}

function sequence(...parts: Buffer[]): Buffer {
  const body = Buffer.concat(parts);
  return Buffer.concat([Buffer.of(0x30, body.length), body]);
}
