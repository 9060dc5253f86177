package io.exactlyonce.autoconfigure;

import java.util.Set;
import org.springframework.boot.actuate.endpoint.Show;
import org.springframework.boot.context.properties.ConfigurationProperties;
import org.springframework.boot.context.properties.bind.DefaultValue;

/**
 * Who sees idempotency keys at the endpoint 'exactlyonce'.
 *
 * @param showValues When to show idempotency keys, which may be personal data. They are shown as asterisks otherwise.
 * @param roles Roles of the users who see keys with 'when_authorized'. If empty, all authenticated users do.
 */
@ConfigurationProperties("management.endpoint.exactlyonce")
public record ExactlyOnceEndpointProperties(
        @DefaultValue("never") Show showValues,
        @DefaultValue Set<String> roles) {}
