package io.exactlyonce.autoconfigure;

import io.exactlyonce.ExactlyOnceSetupException;
import io.exactlyonce.property.InvalidPropertyException;
import org.springframework.boot.context.properties.source.ConfigurationPropertyName;
import org.springframework.boot.context.properties.source.ConfigurationPropertySource;
import org.springframework.boot.context.properties.source.ConfigurationPropertySources;
import org.springframework.boot.context.properties.source.IterableConfigurationPropertySource;
import org.springframework.boot.diagnostics.AbstractFailureAnalyzer;
import org.springframework.boot.diagnostics.FailureAnalysis;
import org.springframework.boot.origin.Origin;
import org.springframework.core.annotation.Order;
import org.springframework.core.env.ConfigurableEnvironment;
import org.springframework.core.env.Environment;

/**
 * Explains an {@link ExactlyOnceSetupException}. Runs before Spring Boot's own analyzers, which have no remedy for this
 * exception.
 */
@Order(0)
final class ExactlyOnceFailureAnalyzer extends AbstractFailureAnalyzer<ExactlyOnceSetupException> {

    private static final ConfigurationPropertyName LISTENERS = ConfigurationPropertyName.of("exactly-once.listeners");

    private final ConfigurableEnvironment environment;

    ExactlyOnceFailureAnalyzer(Environment environment) {
        this.environment = (ConfigurableEnvironment) environment;
    }

    @Override
    protected FailureAnalysis analyze(Throwable rootFailure, ExactlyOnceSetupException failure) {
        String place = failure instanceof InvalidPropertyException invalid ? place(invalid.property()) : "";
        return new FailureAnalysis(failure.problem() + place, failure.remedy(), failure);
    }

    private String place(String property) {
        // A listener's id may contain characters that are not valid in property names. adapt(..) accepts such an id.
        ConfigurationPropertyName name = ConfigurationPropertyName.adapt(property, '.');
        for (ConfigurationPropertySource source : ConfigurationPropertySources.from(environment.getPropertySources())) {
            ConfigurationPropertyName set = LISTENERS.isParentOf(name) ? firstWithin(name, source) : name;
            Origin origin = Origin.from(source.getConfigurationProperty(set));
            if (origin != null) {
                return " (set by %s)".formatted(origin);
            }
        }
        return "";
    }

    /**
     * Returns a property that is set for the listener (for example {@code exactly-once.listeners.orders.lease}), to
     * show the user its file and line. The listener's id alone is no property, so Spring does not record where the id
     * is written.
     */
    private static ConfigurationPropertyName firstWithin(
            ConfigurationPropertyName group, ConfigurationPropertySource source) {
        return source instanceof IterableConfigurationPropertySource names
                ? names.stream().filter(group::isAncestorOf).findFirst().orElse(group)
                : group;
    }
}
