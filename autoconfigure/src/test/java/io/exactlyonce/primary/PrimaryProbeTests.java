package io.exactlyonce.primary;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.exactlyonce.testing.OtherDatabase;
import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import org.assertj.core.util.Throwables;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class PrimaryProbeTests {

    @Test
    void databaseThatIsDownIsReportedWithItsUrlButWithoutSecrets() throws IOException {
        String url = "jdbc:postgresql://127.0.0.1:%d/shop?user=me&password=secret".formatted(freePort());

        try (var pool = ImpatientPool.of(url)) {
            assertThatThrownBy(() -> new PrimaryProbe(pool).verify())
                    .isInstanceOfSatisfying(PrimaryUnavailableException.class, unavailable -> {
                        assertThat(unavailable.problem()).contains("No connection to");
                        assertThat(unavailable.remedy()).contains("spring.datasource.url");
                    })
                    .hasMessageContaining("/shop for claims")
                    .hasMessageContaining("refused")
                    .hasMessageNotContaining("secret");
        }
    }

    /** The form of libpq's URLs, which the driver cannot parse, and a name that no driver has. */
    @ParameterizedTest
    @ValueSource(
            strings = {
                "jdbc:postgresql://me:secret@127.0.0.1/shop",
                "jdbc:postgres://127.0.0.1/shop?user=me&password=secret"
            })
    void urlThatNoDriverTakesIsReportedWithoutSecretsAndSoAreItsCauses(String url) {
        try (var pool = ImpatientPool.of(url)) {
            assertThatThrownBy(() -> new PrimaryProbe(pool).verify())
                    .hasMessageContaining("127.0.0.1/shop for claims")
                    .satisfies(failure ->
                            assertThat(Throwables.getStackTrace(failure)).doesNotContain("secret"));
        }
    }

    @Test
    void databaseOfAnotherKindIsToldWithItsAnswerAndNotTakenForUnreachable() {
        var target = new ConnectionTarget(
                ConnectionTarget.Source.APPLICATION, "jdbc:h2:mem:shop;USER=me;PASSWORD=secret", "me", "secret");

        try (var pool = ImpatientPool.of(target, new OtherDatabase())) {
            assertThatThrownBy(() -> new PrimaryProbe(pool).verify())
                    .isInstanceOfSatisfying(PrimaryUnavailableException.class, refused -> {
                        assertThat(refused.problem())
                                .startsWith("jdbc:h2:mem:shop is connected, but refused")
                                .contains("SQLSTATE 90022", OtherDatabase.ANSWER);
                        assertThat(refused.remedy())
                                .contains("PostgreSQL 14 or later", "set exactly-once.datasource.url");
                    })
                    .hasMessageNotContaining("secret");
        }
    }

    @Test
    void remedyNamesTheSettingThatChoseTheDatabase() throws IOException {
        String url = "jdbc:postgresql://127.0.0.1:%d/shop".formatted(freePort());

        try (var pool =
                ImpatientPool.of(new ConnectionTarget(ConnectionTarget.Source.PROPERTIES, url, "me", "secret"))) {
            assertThatThrownBy(() -> new PrimaryProbe(pool).verify())
                    .hasMessageContaining("that exactly-once.datasource.url, .username and .password are right")
                    .hasMessageNotContaining("secret");
        }
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "any",
                "secondary",
                "preferSecondary",
                "slave",
                "preferSlave",
                "preferPrimary",
                "primary&targetServerType=any"
            })
    void urlOfSeveralHostsThatPermitsReplicasIsRefusedBeforeAnythingConnects(String type) {
        String url = "jdbc:postgresql://127.0.0.1:1,127.0.0.1:2/shop?user=me&password=secret&targetServerType=" + type;

        try (var pool = ImpatientPool.of(url)) {
            assertThatThrownBy(() -> new PrimaryProbe(pool).verify())
                    .isInstanceOfSatisfying(
                            PrimaryUnavailableException.class,
                            unavailable ->
                                    assertThat(unavailable.problem()).contains("lets the driver choose a replica"))
                    .hasMessageContaining("targetServerType=" + type.substring(type.lastIndexOf('=') + 1))
                    .hasMessageContaining("exactly-once.datasource.url")
                    .hasMessageNotContaining("secret");
        }
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "jdbc:postgresql://a,b/shop",
                "jdbc:postgresql://a,b/shop?ssl=true&targetServerType=primary",
                "jdbc:postgresql://a,b/shop?targetServerType=master",
                "jdbc:postgresql://a/shop?targetServerType=any",
                "jdbc:postgresql://a,b/shop?options=-c%20targetServerType=any"
            })
    void urlThatLeadsToThePrimaryAloneIsNot(String url) {
        assertThat(new JdbcUrl(url).permittedReplicas()).isEmpty();
    }

    @Test
    void urlIsToldWithoutCredentialsAndParameters() {
        assertThat(new JdbcUrl("jdbc:postgresql://me:secret@a:1,b:2/shop?password=secret"))
                .hasToString("jdbc:postgresql://a:1,b:2/shop");
    }

    @ParameterizedTest
    @CsvSource({
        "jdbc:h2:mem:shop;USER=me;PASSWORD=secret, jdbc:h2:mem:shop",
        "jdbc:sqlserver://a:1433;databaseName=shop;password=secret, jdbc:sqlserver://a:1433",
        "jdbc:oracle:thin:me/secret@//a:1521/shop, jdbc:oracle:thin://a:1521/shop"
    })
    void urlOfAnotherDriverIsToldWithoutCredentials(String url, String told) {
        assertThat(new JdbcUrl(url)).hasToString(told);
    }

    @Test
    void onlyHostsAreCountedAsHosts() {
        assertThat(new JdbcUrl("jdbc:postgresql://a,b/shop").namesSeveralHosts())
                .isTrue();
        assertThat(new JdbcUrl("jdbc:postgresql://a/shop?options=x,y").namesSeveralHosts())
                .isFalse();
    }

    private static int freePort() throws IOException {
        try (var socket = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
            return socket.getLocalPort();
        }
    }
}
