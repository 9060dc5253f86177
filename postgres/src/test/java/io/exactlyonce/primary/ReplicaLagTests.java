package io.exactlyonce.primary;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import org.junit.jupiter.api.Test;

/** Tests when two servers count as one server, and when they count as two replicas of one name. */
class ReplicaLagTests {

    private static final PrimaryCheck.Server SERVER = server("10.0.0.1:5432", "shop", "1700000000.1");

    private static PrimaryCheck.Server server(String address, String name, String startedAt) {
        return new PrimaryCheck.Server(address, name, startedAt, 1, false);
    }

    @Test
    void ofTwoReplicasOfOneNameTheWorseIsReported() {
        ReplicaLag late = new ReplicaLag("replica", Duration.ofSeconds(2), 10);
        ReplicaLag far = new ReplicaLag("replica", Duration.ofSeconds(1), 20);
        ReplicaLag worse = new ReplicaLag("replica", Duration.ofSeconds(2), 20);

        assertThat(late.or(far)).isEqualTo(worse);
        assertThat(far.or(late)).isEqualTo(worse);
        assertThat(late.or(late)).isEqualTo(late);
    }

    @Test
    void serverIsKnownByItsAddressAndItsStart() {
        assertThat(SERVER.isSameAs(server("10.0.0.1:5432", "other", "1700000000.1")))
                .isTrue();
        assertThat(SERVER.isSameAs(server("10.0.0.2:5432", "shop", "1700000000.1")))
                .isFalse();
        assertThat(SERVER.isSameAs(server("10.0.0.1:5432", "shop", "1700000000.2")))
                .isFalse();
    }
}
