package io.exactlyonce.sighting;

import io.exactlyonce.claim.ClaimKey;
import java.util.List;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Tells all observers, and shields handlers from what they throw. */
public final class SightingObservers implements SightingObserver {

    private static final Logger log = LoggerFactory.getLogger(SightingObservers.class);

    private final List<SightingObserver> observers;

    /** @param observers each is told of everything */
    public SightingObservers(List<SightingObserver> observers) {
        this.observers = List.copyOf(observers);
    }

    @Override
    public void observing(ObservedQueue queue) {
        tell(observer -> observer.observing(queue));
    }

    @Override
    public void sighted(ObservedQueue queue, ClaimKey key, Sighting sighting) {
        tell(observer -> observer.sighted(queue, key, sighting));
    }

    @Override
    public void unobserved(ObservedQueue queue, Unobserved reason, @Nullable Throwable failure) {
        tell(observer -> observer.unobserved(queue, reason, failure));
    }

    private void tell(Consumer<SightingObserver> event) {
        for (SightingObserver observer : observers) {
            try {
                event.accept(observer);
            } catch (Throwable failure) {
                // Also that there is no thread left to log on: the handler is called nevertheless.
                log.debug("{} failed", observer.getClass().getName(), failure);
            }
        }
    }
}
