package io.exactlyonce.autoconfigure;

import io.exactlyonce.audit.AuditMode;
import io.exactlyonce.audit.AuditRules;
import io.exactlyonce.property.InvalidPropertyException;
import java.util.Set;
import org.springframework.boot.context.properties.ConfigurationProperties;
import org.springframework.boot.context.properties.bind.DefaultValue;

/**
 * Audit of the listeners' queues, one second after a listener starts and then every minute.
 *
 * @param mode Reaction to the audit's findings: 'fail' fails startup on severity ERROR, 'warn' logs them, 'off' turns the
 *     audit off.
 * @param silence Rules of the audit to skip, by id, such as 'claim-retention'.
 */
@ConfigurationProperties("exactly-once.audit")
public record AuditProperties(
        @DefaultValue("warn") AuditMode mode, @DefaultValue Set<String> silence) {

    /** Rejects an unknown rule. */
    public AuditProperties {
        for (String id : silence) {
            if (!AuditRules.ids().contains(id)) {
                throw new InvalidPropertyException(
                        "exactly-once.audit.silence",
                        "exactly-once.audit.silence (%s) must name rules of the audit".formatted(id),
                        "choose among " + String.join(", ", AuditRules.ids()));
            }
        }
    }
}
