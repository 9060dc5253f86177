package io.exactlyonce.autoconfigure;

import io.exactlyonce.claim.postgres.ClaimDatabase;
import io.exactlyonce.listener.observed.ObservedContainers;
import io.exactlyonce.sighting.ObservedClaims;
import io.exactlyonce.sighting.SightingLog;
import io.exactlyonce.sighting.SightingObserver;
import io.exactlyonce.sighting.Sightings;
import io.exactlyonce.time.Clockwork;
import java.time.Duration;
import org.jspecify.annotations.Nullable;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Lazy;

/** Listeners that are only observed. What only they need is made when there is one. */
@Configuration(proxyBeanMethods = false)
class SightingConfiguration {

    private static final Duration CHECK_INTERVAL = Duration.ofSeconds(1);

    @Bean
    Sightings exactlyOnceSightings(Clockwork clockwork) {
        return new Sightings(clockwork);
    }

    @Bean
    @Lazy
    SightingLog exactlyOnceSightingLog(Clockwork clockwork) {
        return new SightingLog(clockwork);
    }

    /** What its thread is given is bounded by the observations that may be under way. */
    @Bean
    @Lazy
    ObservedClaims exactlyOnceObservedClaims(
            ClaimWriters writers,
            ExactlyOnceProperties properties,
            Clockwork clockwork,
            ObjectProvider<SightingObserver> observers) {
        return new ObservedClaims(
                writers.async(),
                ExactlyOnceAutoConfiguration.terms(properties),
                observers.orderedStream().toList(),
                ExactlyOnceAutoConfiguration.threads("exactly-once-observing-", 1, Integer.MAX_VALUE),
                clockwork,
                ObservedClaims.MOST_UNDER_WAY);
    }

    @Bean
    ObservedContainers exactlyOnceObservedContainers(ObjectProvider<ObservedClaims> claims) {
        return new ObservedContainers(claims);
    }

    /**
     * Proves the database ready, and makes its table, for listeners whose start does not wait for it: again and again until that has
     * passed.
     */
    @Bean
    TickLifecycle exactlyOnceObservedDatabase(
            Clockwork clockwork,
            ObjectProvider<ClaimDatabase> database,
            Sightings sightings,
            ObjectProvider<SightingLog> sightingLog) {
        ClaimDatabase claims = database.getIfAvailable();
        return new TickLifecycle(
                clockwork, "exactly-once-observed-check-1", () -> check(claims, sightingLog), CHECK_INTERVAL) {

            @Override
            public boolean isAutoStartup() {
                return claims != null && sightings.isObserving();
            }
        };
    }

    private static void check(@Nullable ClaimDatabase claims, ObjectProvider<SightingLog> sightingLog) {
        try {
            if (claims != null && !claims.isReady()) {
                claims.requireReady();
            }
        } catch (RuntimeException away) {
            sightingLog.getObject().unanswered(away);
        }
    }
}
