package io.exactlyonce.sample.live;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.exactlyonce.sample.lab.Cleanup;
import io.exactlyonce.sample.lab.Kind;
import io.exactlyonce.sample.lab.Workspace;
import java.time.Duration;
import org.junit.jupiter.api.Test;
import org.springframework.jdbc.core.simple.JdbcClient;
import org.springframework.jdbc.datasource.DriverManagerDataSource;

class ReplicaIT {

    @Test
    void replicaShowsCommitsAsLateAsConfigured() throws Exception {
        try (Cleanup cleanup = new Cleanup()) {
            LiveServers servers = LiveServers.start(Duration.ofSeconds(4), Workspace.create(), cleanup);
            JdbcClient primary = JdbcClient.create(servers.databases().database(Kind.NAIVE));
            JdbcClient replica = JdbcClient.create(
                    new DriverManagerDataSource(servers.replica().url(Kind.NAIVE)));

            assertThat(replica.sql("SELECT pg_is_in_recovery()")
                            .query(Boolean.class)
                            .single())
                    .isTrue();
            primary.sql("CREATE TABLE note (n int)").update();
            await().until(() -> replica.sql("SELECT count(*) FROM pg_class WHERE relname = 'note'")
                            .query(Long.class)
                            .single()
                    == 1);

            servers.replica().setLag(Duration.ofSeconds(3));
            await().until(() -> replica.sql("SHOW recovery_min_apply_delay")
                    .query(String.class)
                    .single()
                    .equals("3s"));
            long before = System.nanoTime();
            primary.sql("INSERT INTO note VALUES (1)").update();
            await().until(() -> notes(replica) == 1);
            assertThat(Duration.ofNanos(System.nanoTime() - before)).isGreaterThan(Duration.ofMillis(2_500));

            servers.replica().setLag(Duration.ofMinutes(5));
            await().until(() -> replica.sql("SHOW recovery_min_apply_delay")
                    .query(String.class)
                    .single()
                    .equals("5min"));
            primary.sql("INSERT INTO note VALUES (2)").update();
            servers.replica().setLag(Duration.ZERO);
            await().until(() -> notes(replica) == 2);
        }
    }

    private static long notes(JdbcClient database) {
        return database.sql("SELECT count(*) FROM note").query(Long.class).single();
    }
}
