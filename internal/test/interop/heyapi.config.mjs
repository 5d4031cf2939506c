// hey-api makes a client of each surface.
export default ['dapi', 'appapi', 'refapi', 'public'].map((surface) => ({
  input: `../../../openapi/bundled/${surface}.yaml`,
  output: { path: `src/wire/heyapi/${surface}`, importFileExtension: '.js' },
  plugins: ['@hey-api/client-fetch', '@hey-api/typescript', '@hey-api/sdk'],
}));
