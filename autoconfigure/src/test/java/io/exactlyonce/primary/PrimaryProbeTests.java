package io.exactlyonce.primary;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.exactlyonce.primary.PrimaryUnavailableException.Reason;
import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.time.Duration;
import org.junit.jupiter.api.Test;

class PrimaryProbeTests {

    @Test
    void databaseThatIsDownIsReportedWithItsUrlButWithoutSecrets() throws IOException {
        String url = "jdbc:postgresql://127.0.0.1:%d/shop?user=me&password=secret".formatted(freePort());

        try (var pool = new PrimaryPinnedDataSource(
                new JdbcUrl(url), PrimaryPinnedDataSource.driver(url, null, null), 1, Duration.ofMillis(500))) {
            assertThatThrownBy(() -> new PrimaryProbe(pool).verify())
                    .isInstanceOfSatisfying(PrimaryUnavailableException.class, unavailable -> {
                        assertThat(unavailable.reason()).isEqualTo(Reason.UNREACHABLE);
                        assertThat(unavailable.url()).endsWith("/shop");
                        assertThat(unavailable.server()).isEmpty();
                        assertThat(unavailable.remedy()).contains("spring.datasource.url");
                    })
                    .hasMessageContaining("/shop for claims")
                    .hasMessageContaining("refused")
                    .hasMessageNotContaining("secret");
        }
    }

    @Test
    void urlIsToldWithoutCredentialsAndParameters() {
        assertThat(new JdbcUrl("jdbc:postgresql://me:secret@a:1,b:2/shop?password=secret"))
                .hasToString("jdbc:postgresql://a:1,b:2/shop");
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
