package io.exactlyonce.autoconfigure;

import io.exactlyonce.audit.AuditMode;
import io.exactlyonce.audit.AuditRules;
import io.exactlyonce.property.InvalidPropertyException;
import java.util.Set;
import org.springframework.boot.context.properties.ConfigurationProperties;
import org.springframework.boot.context.properties.bind.DefaultValue;

/**
 * Audit of the listeners' queues, when a listener starts and each minute.
 *
 * @param mode What becomes of findings: 'fail' stops the start at those of severity ERROR, 'warn' logs them, 'off'
 *     reads nothing.
 * @param silence Rules that are left out, by their ids, such as 'claim-retention'.
 */
@ConfigurationProperties("exactly-once.audit")
public record AuditProperties(
        @DefaultValue("warn") AuditMode mode, @DefaultValue Set<String> silence) {

    /** Refuses a rule that there is not. */
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
