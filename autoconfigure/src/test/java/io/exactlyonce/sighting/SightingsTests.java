package io.exactlyonce.sighting;

import static org.assertj.core.api.Assertions.assertThat;

import io.exactlyonce.claim.ClaimKey;
import io.exactlyonce.sighting.Sightings.Seen;
import io.exactlyonce.visibility.FakeClock;
import java.time.Duration;
import org.junit.jupiter.api.Test;

class SightingsTests {

    private static final ObservedQueue ORDERS = new ObservedQueue("fulfilment", "orders");

    private final FakeClock clock = new FakeClock();
    private final Sightings sightings = new Sightings(clock);

    private Seen only() {
        assertThat(sightings.all()).hasSize(1);
        return sightings.all().get(0);
    }

    private static ClaimKey key(int number) {
        return new ClaimKey("orders", "o" + number);
    }

    @Test
    void lastDayForgetsToTheHourAndTheStartDoesNot() {
        sightings.sighted(ORDERS, key(1), Sighting.DUPLICATE);
        clock.advance(Duration.ofHours(23));
        sightings.sighted(ORDERS, key(2), Sighting.DUPLICATE);
        assertThat(only().lastDay()).containsEntry("duplicate", 2L);

        clock.advance(Duration.ofHours(1));

        assertThat(only().lastDay()).containsEntry("duplicate", 1L);
        assertThat(only().sinceStart()).containsEntry("duplicate", 2L);
        clock.advance(Duration.ofDays(400));
        assertThat(only().lastDay()).containsEntry("duplicate", 0L);
        sightings.unobserved(ORDERS, Unobserved.KEY, null);
        assertThat(only().lastDay()).containsEntry("unobserved", 1L);
        assertThat(only().sinceStart()).containsEntry("duplicate", 2L).containsEntry("unobserved", 1L);
    }

    @Test
    void latestKeysAreRememberedAndThoseThatRanAloneAreNot() {
        sightings.sighted(ORDERS, key(0), Sighting.ALONE);
        for (int number = 1; number <= SightingTally.MOST_KEYS + 5; number++) {
            sightings.sighted(ORDERS, key(number), Sighting.TAKEOVER);
        }
        sightings.sighted(ORDERS, key(10), Sighting.OVERLAP);
        clock.advance(Duration.ofSeconds(3));

        assertThat(only().keys())
                .hasSize(SightingTally.MOST_KEYS)
                .startsWith(
                        new Sightings.SeenKey(key(10).shortHash(), "overlap", 2, 3),
                        new Sightings.SeenKey(key(SightingTally.MOST_KEYS + 5).shortHash(), "takeover", 1, 3))
                .noneMatch(seen ->
                        seen.key().equals(key(0).shortHash()) || seen.key().equals(key(5).shortHash()));
    }

    @Test
    void listenersAreInOrderAndShownBeforeTheirFirstMessage() {
        sightings.observing(new ObservedQueue("shipping", "parcels"));
        sightings.observing(ORDERS);
        sightings.observing(new ObservedQueue("shipping", "letters"));

        assertThat(sightings.all())
                .extracting(seen -> seen.listener() + " " + seen.queue())
                .containsExactly("fulfilment orders", "shipping letters", "shipping parcels");
        assertThat(sightings.all().get(0).unobserved())
                .containsOnlyKeys("key", "message", "store", "outcome", "overload");
    }
}
