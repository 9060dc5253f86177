package io.exactlyonce.primary;

import static io.exactlyonce.primary.ImpatientPool.refusalOf;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.exactlyonce.testing.OtherDatabase;
import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.logging.Handler;
import java.util.logging.LogRecord;
import java.util.logging.Logger;
import java.util.logging.StreamHandler;
import org.assertj.core.util.Throwables;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class PrimaryCheckTests {

    @Test
    void databaseThatIsDownIsReportedWithItsUrlButWithoutSecrets() throws IOException {
        String url = "jdbc:postgresql://127.0.0.1:%d/shop?user=me&password=secret".formatted(freePort());

        try (var pool = ImpatientPool.of(url)) {
            ClaimDatabaseException unavailable = refusalOf(pool);
            assertThat(unavailable.problem()).contains("No connection to");
            assertThat(unavailable.remedy()).contains("spring.datasource.url");
            assertThat(unavailable).hasMessageContaining("/shop for claims");
            assertThat(unavailable).hasMessageContaining("refused");
            assertThat(unavailable).hasMessageNotContaining("secret");
        }
    }

    /** The URL format of libpq, which the driver cannot parse, and a host name that does not exist. */
    @ParameterizedTest
    @ValueSource(
            strings = {
                "jdbc:postgresql://me:secret@127.0.0.1/shop",
                "jdbc:postgres://127.0.0.1/shop?user=me&password=secret"
            })
    void urlThatNoDriverTakesIsReportedWithoutSecretsAndSoAreItsCauses(String url) {
        List<String> logged = new CopyOnWriteArrayList<>();
        Handler handler = new StreamHandler() {
            @Override
            public void publish(LogRecord line) {
                logged.add(line.getMessage() + Arrays.toString(line.getParameters()));
            }
        };
        Logger driver = Logger.getLogger("org.postgresql");
        driver.addHandler(handler);
        try (var pool = ImpatientPool.of(url)) {
            assertThatThrownBy(() -> new PrimaryCheck(pool).verify())
                    .hasMessageContaining(" for claims")
                    .satisfies(failure ->
                            assertThat(Throwables.getStackTrace(failure)).doesNotContain("secret"));
            assertThat(logged).noneMatch(line -> line.contains("secret"));
        } finally {
            driver.removeHandler(handler);
        }
    }

    @Test
    void databaseOfAnotherKindIsReportedWithItsAnswerAndNotTakenForUnreachable() {
        var target = ImpatientPool.target("jdbc:h2:mem:shop;USER=me;PASSWORD=secret", "me", "secret");

        try (var pool = ImpatientPool.of(target, new OtherDatabase())) {
            ClaimDatabaseException refused = refusalOf(pool);
            assertThat(refused.problem())
                    .startsWith("mem:shop is reachable, but rejected")
                    .contains("SQLSTATE 90022", OtherDatabase.ANSWER);
            assertThat(refused.remedy()).contains("PostgreSQL 14 or later", "set exactly-once.datasource.url");
            assertThat(refused).hasMessageNotContaining("secret");
        }
    }

    private static int freePort() throws IOException {
        try (var socket = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
            return socket.getLocalPort();
        }
    }
}
