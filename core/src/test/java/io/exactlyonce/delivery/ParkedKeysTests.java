package io.exactlyonce.delivery;

import static org.assertj.core.api.Assertions.assertThat;

import io.exactlyonce.claim.ClaimKey;
import io.exactlyonce.visibility.FakeClock;
import java.time.Duration;
import org.junit.jupiter.api.Test;

class ParkedKeysTests {

    private final FakeClock clock = new FakeClock();
    private final ParkedKeys keys = new ParkedKeys(clock);

    private static ClaimKey key(int number) {
        return new ClaimKey("orders", "o" + number);
    }

    @Test
    void keyIsLoggedOnceAnHour() {
        assertThat(keys.isDue(key(1))).isTrue();
        clock.advance(ParkedKeys.INTERVAL.minusNanos(1));
        assertThat(keys.isDue(key(1))).isFalse();
        assertThat(keys.isDue(key(2))).isTrue();
        clock.advance(Duration.ofNanos(1));
        assertThat(keys.isDue(key(1))).isTrue();
        assertThat(keys.isDue(key(1))).isFalse();
    }

    @Test
    void keyThatWasLoggedWhenItWasParkedIsNotDue() {
        keys.logged(key(1));

        assertThat(keys.isDue(key(1))).isFalse();
    }

    @Test
    void keysThatWereLoggedLongestAgoAreForgottenFirst() {
        for (int number = 0; number < ParkedKeys.MOST; number++) {
            keys.logged(key(number));
        }
        keys.logged(key(0));
        keys.logged(key(-1));

        assertThat(keys.isDue(key(0))).isFalse();
        assertThat(keys.isDue(key(1))).isTrue();
    }
}
