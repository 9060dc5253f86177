package io.exactlyonce.sighting;

import static org.assertj.core.api.Assertions.assertThat;

import io.exactlyonce.claim.ClaimKey;
import io.exactlyonce.visibility.FakeClock;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

class SightingObserversTests {

    private static final ObservedQueue ORDERS = new ObservedQueue("fulfilment", "orders");

    @Test
    void observerThatThrowsDisturbsNoOther() {
        Sightings last = new Sightings(new FakeClock());
        SightingObservers all = new SightingObservers(List.of(new Broken(), last));

        all.observing(ORDERS);
        all.sighted(ORDERS, new ClaimKey("orders", "o1"), Sighting.DUPLICATE);
        all.unobserved(ORDERS, Unobserved.MESSAGE, null);

        assertThat(last.all().get(0).sinceStart())
                .containsEntry("duplicate", 1L)
                .containsEntry("unobserved", 1L);
    }

    private static final class Broken implements SightingObserver {

        @Override
        public void observing(ObservedQueue queue) {
            throw new IllegalStateException();
        }

        @Override
        public void sighted(ObservedQueue queue, ClaimKey key, Sighting sighting) {
            throw new NoClassDefFoundError();
        }

        @Override
        public void unobserved(ObservedQueue queue, Unobserved reason, @Nullable Throwable failure) {
            throw new IllegalStateException();
        }
    }
}
