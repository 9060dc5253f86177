package io.exactlyonce.primary;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import io.exactlyonce.ExactlyOnceListener;
import io.exactlyonce.actuate.ClaimHealthIndicator;
import io.exactlyonce.servers.LocalPostgres;
import io.exactlyonce.testing.EmbeddedDatabase;
import io.exactlyonce.testing.SqsServer;
import io.exactlyonce.testing.TestApplication;
import io.exactlyonce.testing.UsesSqs;
import java.io.IOException;
import java.lang.ProcessBuilder.Redirect;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.security.KeyStore;
import java.util.Base64;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.springframework.boot.health.contributor.Status;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;
import org.springframework.jdbc.core.JdbcTemplate;

/** Claims over TLS: connections go only to a server with the required name and authority. */
@UsesSqs
@ExtendWith(OutputCaptureExtension.class)
class TlsIT {

    private static final SqsServer SQS = SqsServer.shared();
    private static final String PASSWORD = "store-password";
    private static final CountDownLatch END = new CountDownLatch(1);

    @TempDir
    private static Path directory;

    private static LocalPostgres server;

    static class Listener {
        @ExactlyOnceListener(id = "orders", queueNames = "${test.queue}", key = "#order")
        void handle(String order) throws InterruptedException {
            assertThat(END.await(30, TimeUnit.SECONDS)).isTrue();
        }
    }

    /** The certificate names {@code localhost}, and not the address. */
    @BeforeAll
    static void start() throws Exception {
        certify("server");
        certify("other");
        server = LocalPostgres.start(settings -> settings.setServerConfig("ssl", "on")
                .setServerConfig("ssl_cert_file", pem("server", "crt").toString())
                .setServerConfig("ssl_key_file", pem("server", "key").toString()));
    }

    @AfterAll
    static void stop() {
        server.close();
    }

    @Test
    void claimsAreMadeRenewedCompletedAndProvedOverTlsOnly() {
        String queue = SQS.createQueue(2);
        try (TestApplication application =
                TestApplication.start(verifying("localhost", "server"), Map.of("test.queue", queue), Listener.class)) {
            SQS.send(queue, "o1");
            await().untilAsserted(() ->
                    assertThat(application.renewals("lease", "succeeded")).isPositive());
            END.countDown();
            await().until(() -> application.claims("COMPLETED") == 1);

            assertThat(application.bean(ClaimHealthIndicator.class).health().getStatus())
                    .isEqualTo(Status.UP);
            assertThat(encryption()).isNotEmpty().containsOnly(true);
        }
    }

    /**
     * {@code spring.datasource.hikari.data-source-properties} request the certificate check. The URL, which claims and
     * their pool share, does not.
     */
    @Test
    void startFailsWhereTheServerCannotProveWhoItIsToTheApplicationsPool(CapturedOutput output) {
        String driver = "spring.datasource.hikari.data-source-properties.";
        Map<String, String> properties = Map.of(
                "test.queue",
                SQS.createQueue(2),
                "spring.datasource.password",
                "hunter2",
                driver + "sslmode",
                "verify-full",
                driver + "sslrootcert",
                pem("other", "crt").toString());

        assertThatThrownBy(() -> TestApplication.start(url("localhost"), properties, Listener.class))
                .hasRootCauseInstanceOf(java.security.cert.CertPathBuilderException.class);

        assertThat(output)
                .contains("APPLICATION FAILED TO START")
                .contains("No connection to localhost:%d/postgres for claims (SSL error".formatted(server.port()))
                .doesNotContain("hunter2");
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', textBlock = """
        localhost | other   | SSL error
        127.0.0.1 | server  | The hostname 127.0.0.1 could not be verified
        localhost | missing | Could not open SSL root certificate file
        """)
    void serverThatCannotProveWhoItIsGetsNoClaims(String host, String authority, String told) {
        requireRefusal(verifying(host, authority), told);
    }

    @Test
    void serverWithoutTlsGetsNoClaims() {
        String plain = EmbeddedDatabase.shared().createDatabase();

        requireRefusal(plain + "?sslmode=verify-full", "The server does not support SSL");
    }

    /** The certificate is of an authority that nobody knows, and names another server. */
    @Test
    void driversDefaultTrustsAnyServerAndContinuesWithoutTls() {
        assertThat(isEncrypted(url("127.0.0.1"), server.getUsername(), server.getPassword()))
                .isTrue();

        EmbeddedDatabase plain = EmbeddedDatabase.shared();
        assertThat(isEncrypted(plain.createDatabase(), plain.username(), plain.password()))
                .isFalse();
    }

    /** Returns whether claims reach a server over TLS, after the check of the start has accepted it. */
    private static boolean isEncrypted(String url, String username, String password) {
        var target = new ClaimPool.Target("exactly-once.datasource.url", url, username, password);
        try (var claims = new ClaimPool(target, 2, ClaimPool.TIMEOUT)) {
            new PrimaryCheck(claims).verify();

            return Boolean.TRUE.equals(new JdbcTemplate(claims.dataSource())
                    .queryForObject("SELECT ssl FROM pg_stat_ssl WHERE pid = pg_backend_pid()", Boolean.class));
        }
    }

    private static void requireRefusal(String url, String told) {
        var target = new ClaimPool.Target("exactly-once.datasource.url", url, "postgres", "hunter2");
        try (ClaimPool claims = ImpatientPool.of(target)) {
            claims.own().orElseThrow().setConnectionTimeout(250);

            // Until the first connection is open, the pool only reports that it has no connection.
            await().untilAsserted(() -> assertThatThrownBy(() -> new PrimaryCheck(claims).verify())
                    .isInstanceOfSatisfying(ClaimDatabaseException.class, refused -> {
                        assertThat(refused.problem()).contains(" for claims (" + told);
                        assertThat(refused.remedy()).contains("exactly-once.datasource.url");
                    })
                    .hasMessageNotContaining("hunter2"));
        }
    }

    private static String verifying(String host, String authority) {
        return "%s?sslmode=verify-full&sslrootcert=%s".formatted(url(host), pem(authority, "crt"));
    }

    private static String url(String host) {
        return "jdbc:postgresql://%s:%d/postgres".formatted(host, server.port());
    }

    /** Returns for each connection of claims whether it is encrypted. */
    private static List<Boolean> encryption() {
        return new JdbcTemplate(server.dataSource())
                .queryForList(
                        "SELECT ssl FROM pg_stat_ssl JOIN pg_stat_activity USING (pid) WHERE application_name = ?",
                        Boolean.class,
                        ClaimPool.NAME);
    }

    /** Makes a self-signed certificate for {@code localhost}, and its key. */
    private static void certify(String name) throws Exception {
        Path store = directory.resolve(name + ".p12");
        Process keytool = new ProcessBuilder(
                        Path.of(System.getProperty("java.home"), "bin", "keytool")
                                .toString(),
                        "-genkeypair",
                        "-alias",
                        name,
                        "-keyalg",
                        "EC",
                        "-dname",
                        "CN=" + name,
                        "-ext",
                        "SAN=dns:localhost",
                        "-storetype",
                        "PKCS12",
                        "-storepass",
                        PASSWORD,
                        "-keystore",
                        store.toString())
                .redirectErrorStream(true)
                .redirectOutput(Redirect.to(directory.resolve(name + ".log").toFile()))
                .start();
        assertThat(keytool.waitFor()).isZero();
        KeyStore keys = KeyStore.getInstance(store.toFile(), PASSWORD.toCharArray());
        write(pem(name, "crt"), "CERTIFICATE", keys.getCertificate(name).getEncoded());
        write(
                pem(name, "key"),
                "PRIVATE KEY",
                keys.getKey(name, PASSWORD.toCharArray()).getEncoded());
    }

    /** PostgreSQL accepts no key that other users can read. */
    private static void write(Path file, String type, byte[] content) throws IOException {
        Files.writeString(
                file,
                "-----BEGIN %s-----%n%s%n-----END %1$s-----%n"
                        .formatted(type, Base64.getMimeEncoder().encodeToString(content)));
        Files.setPosixFilePermissions(file, PosixFilePermissions.fromString("rw-------"));
    }

    private static Path pem(String name, String type) {
        return directory.resolve(name + "." + type);
    }
}
