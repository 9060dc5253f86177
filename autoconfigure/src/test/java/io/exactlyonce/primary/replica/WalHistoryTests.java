package io.exactlyonce.primary.replica;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import org.junit.jupiter.api.Test;

class WalHistoryTests {

    private final WalHistory history = new WalHistory();

    @Test
    void replicaThatStandsStillFallsBehind() {
        history.record(100, seconds(0));
        history.record(200, seconds(10));
        history.record(300, seconds(20));

        assertThat(history.provenLag(150, seconds(60))).isEqualTo(Duration.ofSeconds(40));
        assertThat(history.provenLag(250, seconds(60))).isEqualTo(Duration.ofSeconds(30));
        assertThat(history.provenLag(300, seconds(60))).isZero();
    }

    @Test
    void positionThatTheReplicaHasNotYetReportedProvesNothing() {
        history.record(100, seconds(0));

        assertThat(history.provenLag(50, seconds(9))).isZero();
        assertThat(history.provenLag(50, seconds(12))).isEqualTo(Duration.ofSeconds(2));
    }

    @Test
    void primaryWithoutTrafficDoesNotLookLikeProgress() {
        history.record(100, seconds(0));
        history.record(100, seconds(1_000));

        assertThat(history.provenLag(50, seconds(1_000))).isEqualTo(Duration.ofSeconds(990));
    }

    @Test
    void newPrimaryThatLostTheEndOfTheLogStartsAnew() {
        history.record(500, seconds(0));
        history.record(400, seconds(100));

        assertThat(history.provenLag(400, seconds(200))).isZero();
        assertThat(history.provenLag(300, seconds(200))).isEqualTo(Duration.ofSeconds(90));
    }

    @Test
    void replicaThatIsBehindForHoursIsStillSeen() {
        for (int i = 0; i < 10_000; i++) {
            history.record(100 + i, seconds(i * 10));
        }

        assertThat(history.provenLag(0, seconds(100_000))).isEqualTo(Duration.ofSeconds(99_990));
    }

    @Test
    void whatAllHaveReplayedIsForgottenAndTheRestIsNot() {
        history.record(100, seconds(0));
        history.record(200, seconds(10));
        history.record(300, seconds(20));

        history.forgetUpTo(150);

        assertThat(history.provenLag(0, seconds(100))).isEqualTo(Duration.ofSeconds(80));
    }

    private static long seconds(long seconds) {
        return Duration.ofSeconds(seconds).toNanos();
    }
}
