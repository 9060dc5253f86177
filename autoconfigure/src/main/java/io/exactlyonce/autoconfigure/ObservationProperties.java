package io.exactlyonce.autoconfigure;

import org.springframework.boot.context.properties.ConfigurationProperties;
import org.springframework.boot.context.properties.bind.DefaultValue;

/**
 * Observations of deliveries, if there is an {@code ObservationRegistry}.
 *
 * @param opentelemetryNames Whether observations of messages use OpenTelemetry's names for messaging, which are still in
 *     development.
 */
@ConfigurationProperties("exactly-once.observation")
public record ObservationProperties(@DefaultValue("false") boolean opentelemetryNames) {}
