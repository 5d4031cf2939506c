package servers

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestAProgramStartsItsServers(t *testing.T) {
	Need(t)
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	for name, start := range map[string]func(...Setting) (*Running, error){
		"PostgreSQL": StartPostgreSQL, "Redis": StartRedis,
	} {
		t.Run(name, func(t *testing.T) {
			server, err := start()
			require.NoError(t, err)
			assert.NotEmpty(t, server.URL())
			of, folder := server.instance, server.instance.folder
			require.NoError(t, of.engine.ready(ctx, folder, of.port, of.process.ID()), "it takes connections")
			require.NoError(t, server.Stop())
			assert.NoDirExists(t, folder)
		})
	}
}

func TestAProgramUsesRunningServers(t *testing.T) {
	t.Setenv("PATH", "")
	t.Setenv(postgresFolder, t.TempDir())
	_, err := StartPostgreSQL()
	require.ErrorContains(t, err, "install Debian's package postgresql")
	_, err = StartRedis()
	require.ErrorContains(t, err, "install Debian's package redis-server")

	t.Setenv(postgresURL, "postgres://127.0.0.1:1/elsewhere")
	t.Setenv(redisURL, "redis://127.0.0.1:1/7")
	Need(t)
	for url, start := range map[string]func(...Setting) (*Running, error){
		"postgres://127.0.0.1:1/elsewhere": StartPostgreSQL, "redis://127.0.0.1:1/7": StartRedis,
	} {
		server, err := start()
		require.NoError(t, err)
		assert.Equal(t, url, server.URL())
		assert.NoError(t, server.Stop())
	}
	assert.False(t, t.Skipped())
}
