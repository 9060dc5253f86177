package io.exactlyonce.sample.lab;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.DisabledOnOs;
import org.junit.jupiter.api.condition.OS;
import org.junit.jupiter.api.io.TempDir;

@DisabledOnOs(value = OS.WINDOWS, disabledReason = "needs a POSIX shell")
class PostgresGuardTests {

    @TempDir
    private Path data;

    private Process server;

    @BeforeEach
    void startServer() throws Exception {
        server = new ProcessBuilder("sleep", "60").start();
        Files.writeString(data.resolve("postmaster.pid"), server.pid() + "\n/data\n");
    }

    @AfterEach
    void stopServer() {
        server.destroyForcibly();
    }

    @Test
    void endOfInputStopsTheServer() throws Exception {
        PostgresGuard guard = PostgresGuard.start(data);
        assertThat(server.isAlive()).isTrue();

        guard.close();

        assertThat(server.waitFor(10, TimeUnit.SECONDS)).isTrue();
    }

    @Test
    void processOfAServerThatRemovedItsFileIsLeftAlone() throws Exception {
        PostgresGuard guard = PostgresGuard.start(data);
        Files.delete(data.resolve("postmaster.pid"));

        guard.close();

        assertThat(server.waitFor(300, TimeUnit.MILLISECONDS)).isFalse();
    }
}
