package io.exactlyonce.autoconfigure;

import io.exactlyonce.ExactlyOnceOperations;
import io.exactlyonce.actuate.ExactlyOnceEndpoint;
import io.exactlyonce.actuate.ListenerStates;
import io.exactlyonce.audit.QueueAudit;
import io.exactlyonce.claim.ParkedClaims;
import io.exactlyonce.sighting.Sightings;
import io.exactlyonce.window.watch.WindowWatch;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.boot.actuate.autoconfigure.endpoint.condition.ConditionalOnAvailableEndpoint;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.context.annotation.Bean;

/** The endpoint {@code exactlyonce}, where it is exposed. */
@AutoConfiguration(after = ExactlyOnceAutoConfiguration.class)
@ConditionalOnClass(ConditionalOnAvailableEndpoint.class)
@ConditionalOnBean(ListenerStates.class)
public final class ExactlyOnceEndpointAutoConfiguration {

    @Bean
    @ConditionalOnMissingBean
    @ConditionalOnAvailableEndpoint
    ExactlyOnceEndpoint exactlyOnceEndpoint(
            ListenerStates listeners,
            WindowWatch windows,
            QueueAudit audit,
            Sightings sightings,
            ObjectProvider<ParkedClaims> claims,
            ObjectProvider<ExactlyOnceOperations> operations) {
        return new ExactlyOnceEndpoint(
                listeners, windows, audit, sightings, claims.getIfAvailable(), operations.getIfAvailable());
    }
}
