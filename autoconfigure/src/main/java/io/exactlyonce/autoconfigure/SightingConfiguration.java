package io.exactlyonce.autoconfigure;

import io.exactlyonce.claim.postgres.startup.ClaimDatabase;
import io.exactlyonce.listener.observed.ObservedContainers;
import io.exactlyonce.sighting.ObservedClaims;
import io.exactlyonce.sighting.SightingLog;
import io.exactlyonce.sighting.SightingObserver;
import io.exactlyonce.sighting.SightingObservers;
import io.exactlyonce.sighting.Sightings;
import io.exactlyonce.time.Clockwork;
import java.time.Duration;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.core.task.SimpleAsyncTaskExecutor;
import org.springframework.scheduling.concurrent.CustomizableThreadFactory;

/** Listeners that are only observed. */
@Configuration(proxyBeanMethods = false)
class SightingConfiguration {

    private static final long IDLE_SECONDS = 10;

    private static final Duration CHECK_INTERVAL = Duration.ofSeconds(1);

    @Bean
    Sightings exactlyOnceSightings(Clockwork clockwork) {
        return new Sightings(clockwork);
    }

    @Bean
    SightingLog exactlyOnceSightingLog(Clockwork clockwork) {
        SimpleAsyncTaskExecutor threads = new SimpleAsyncTaskExecutor("exactly-once-observing-log-");
        threads.setDaemon(true);
        return new SightingLog(clockwork, threads);
    }

    /** Its thread ends when there is nothing to do. What it is given is bounded by the observations that may be under way. */
    @Bean
    ObservedClaims exactlyOnceObservedClaims(
            ClaimWriters writers,
            ExactlyOnceProperties properties,
            Clockwork clockwork,
            ObjectProvider<SightingObserver> observers) {
        CustomizableThreadFactory threads = new CustomizableThreadFactory("exactly-once-observing-");
        threads.setDaemon(true);
        ThreadPoolExecutor thread =
                new ThreadPoolExecutor(1, 1, IDLE_SECONDS, TimeUnit.SECONDS, new LinkedBlockingQueue<>(), threads);
        thread.allowCoreThreadTimeOut(true);
        return new ObservedClaims(
                writers.async(),
                ExactlyOnceAutoConfiguration.terms(properties),
                new SightingObservers(observers.orderedStream().toList()),
                thread,
                clockwork,
                ObservedClaims.MOST_UNDER_WAY);
    }

    @Bean
    ObservedContainers exactlyOnceObservedContainers(ObservedClaims claims) {
        return new ObservedContainers(claims);
    }

    /**
     * Proves the database ready, and makes its table, for listeners whose start does not wait for it: again and again until that has
     * passed.
     */
    @Bean
    TickLifecycle exactlyOnceObservedDatabase(
            Clockwork clockwork, ObjectProvider<ClaimDatabase> database, Sightings sightings, SightingLog sightingLog) {
        ClaimDatabase claims = database.getIfAvailable();
        return new TickLifecycle(
                clockwork, "exactly-once-observed-check-1", () -> check(claims, sightingLog), CHECK_INTERVAL) {

            @Override
            public boolean isAutoStartup() {
                return claims != null && sightings.isObserving();
            }
        };
    }

    private static void check(@Nullable ClaimDatabase claims, SightingLog sightingLog) {
        try {
            if (claims != null && !claims.isReady()) {
                claims.requireReady();
            }
        } catch (RuntimeException away) {
            sightingLog.unanswered(away);
        }
    }
}
