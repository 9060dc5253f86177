package io.exactlyonce.primary;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import com.zaxxer.hikari.HikariCredentialsProvider;
import com.zaxxer.hikari.HikariDataSource;
import com.zaxxer.hikari.util.Credentials;
import io.exactlyonce.ExactlyOnceDataSource;
import io.exactlyonce.ExactlyOnceListener;
import io.exactlyonce.servers.LocalPostgres;
import io.exactlyonce.testing.SqsServer;
import io.exactlyonce.testing.TestApplication;
import io.exactlyonce.testing.UsesSqs;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.UUID;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.io.TempDir;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.jdbc.core.JdbcTemplate;

/** Passwords that change while listeners run, on a server that requires {@code scram-sha-256}. */
@UsesSqs
@ExtendWith(OutputCaptureExtension.class)
class RotatedPasswordIT {

    private static final SqsServer SQS = SqsServer.shared();

    @TempDir
    private static Path directory;

    private static LocalPostgres server;
    private static JdbcTemplate superuser;

    private final String role = "role_" + UUID.randomUUID().toString().substring(0, 8);
    private final String queue = SQS.createQueue(5);

    static class Listener {
        @ExactlyOnceListener(id = "orders", queueNames = "${test.queue}", key = "#order")
        void handle(String order) {}
    }

    /** The role's current password, as a token service would return it. */
    @Configuration(proxyBeanMethods = false)
    static class Marked {

        static final AtomicReference<Credentials> NOW = new AtomicReference<>();

        @Bean
        @ExactlyOnceDataSource
        HikariCredentialsProvider claimsCredentials() {
            return NOW::get;
        }
    }

    @BeforeAll
    static void start() throws Exception {
        Path access = Files.writeString(directory.resolve("pg_hba.conf"), """
            host all all 127.0.0.1/32 scram-sha-256
            """);
        server = LocalPostgres.start(settings -> settings.setServerConfig("hba_file", access.toString())
                .setServerConfig("password_encryption", "scram-sha-256"));
        superuser = new JdbcTemplate(server.dataSource());
    }

    @AfterAll
    static void stop() {
        server.close();
    }

    @Test
    void claimsReconnectWithThePasswordThatThePoolHasNow(CapturedOutput output) {
        try (TestApplication application =
                TestApplication.start(database(), access("spring.datasource", "one"), Listener.class)) {
            requireHandled(application, "before");

            change("two");
            SQS.send(queue, "refused");
            await().until(() -> output.getOut().contains("is paused: 3 claims in a row got no answer"));
            assertThat(output)
                    .contains(
                            "refuses user '%s' (SQLSTATE 28P01, FATAL: password authentication failed".formatted(role))
                    .contains("each new connection reads user and password from DataSource 'dataSource'");
            pool(application).getHikariConfigMXBean().setPassword("two");
            await().until(() -> application.claims("COMPLETED") == 2);

            pool(application).getHikariConfigMXBean().setPassword("three");
            change("three");
            requireHandled(application, "again");
            assertThat(output).doesNotContain("'one'", "'two'", "'three'");
        }
    }

    @Test
    void claimsWithAUserOfTheirOwnAskTheirProvider() {
        Marked.NOW.set(Credentials.of(role, "one"));
        Map<String, String> properties = access("exactly-once.datasource", "expired");
        String url = database();
        properties.put("exactly-once.datasource.url", url);
        try (TestApplication application = TestApplication.start(url, properties, Listener.class, Marked.class)) {
            requireHandled(application, "before");
            Marked.NOW.set(Credentials.of(role, "two"));
            change("two");
            requireHandled(application, "after");
        }
    }

    @Test
    void wrongPasswordFailsStartupWithItsUser() {
        String url = database();

        assertThatThrownBy(() -> TestApplication.start(url, access("spring.datasource", "wrong"), Listener.class))
                .hasStackTraceContaining("No connection to %s for claims", url.substring(url.indexOf("127")))
                .hasStackTraceContaining("refuses user '%s' (SQLSTATE 28P01", role);
    }

    @Test
    void missingPasswordFailsStartupWithItsUser() {
        String url = database();

        assertThatThrownBy(() -> TestApplication.start(url, access("spring.datasource", ""), Listener.class))
                .hasStackTraceContaining("refuses user '%s' (SQLSTATE 08004, The server requested SCRAM", role);
    }

    private void requireHandled(TestApplication application, String order) {
        int before = application.claims("COMPLETED");
        SQS.send(queue, order);
        await().until(() -> application.claims("COMPLETED") == before + 1);
    }

    private static HikariDataSource pool(TestApplication application) {
        return application.bean(HikariDataSource.class);
    }

    /** Returns a database that the role owns. */
    private String database() {
        superuser.execute("CREATE ROLE %s LOGIN PASSWORD 'one'".formatted(role));
        String url = server.createDatabase("shop_" + role);
        superuser.execute("ALTER DATABASE shop_%s OWNER TO %s".formatted(role, role));
        return url;
    }

    /** Changes the password, and ends all sessions that were opened with the previous one. */
    private void change(String password) {
        superuser.execute("ALTER ROLE %s PASSWORD '%s'".formatted(role, password));
        superuser.queryForList("SELECT pg_terminate_backend(pid, 5000) FROM pg_stat_activity WHERE usename = ?", role);
    }

    private Map<String, String> access(String prefix, String password) {
        Map<String, String> properties = new LinkedHashMap<>();
        properties.put("test.queue", queue);
        properties.put(prefix + ".username", role);
        properties.put(prefix + ".password", password);
        properties.put(ClaimPool.TIMEOUT_PROPERTY, "1s");
        return properties;
    }
}
