package io.exactlyonce.property;

import java.util.Set;
import java.util.stream.Collectors;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.beans.factory.config.BeanFactoryPostProcessor;
import org.springframework.beans.factory.config.ConfigurableListableBeanFactory;
import org.springframework.boot.context.properties.ConfigurationProperties;
import org.springframework.boot.context.properties.bind.BindException;
import org.springframework.boot.context.properties.bind.BindHandler;
import org.springframework.boot.context.properties.bind.Bindable;
import org.springframework.boot.context.properties.bind.Binder;
import org.springframework.boot.context.properties.bind.UnboundConfigurationPropertiesException;
import org.springframework.boot.context.properties.bind.handler.NoUnboundElementsBindHandler;
import org.springframework.boot.context.properties.source.ConfigurationProperty;
import org.springframework.boot.context.properties.source.ConfigurationPropertyName;
import org.springframework.boot.context.properties.source.UnboundElementsSourceFilter;
import org.springframework.core.env.ConfigurableEnvironment;

/**
 * Finds misspelled property names under {@code exactly-once}. Fails startup, or logs these names. Spring itself ignores
 * unknown names, so a misspelled {@code retention} would go unnoticed, and cause a duplicate weeks later. Reports each
 * name and where it is set, but not its value, which may be a password.
 *
 * <p>Environment variables and system properties are not checked, because other programs also set them.
 *
 * @param group prefix of the names: {@code exactly-once} or a group within it
 * @param type the type to which the properties are bound
 * @param ofOtherModules groups within the prefix that an optional module checks
 */
public record UnknownProperties(
        ConfigurableEnvironment environment, String group, Class<?> type, Set<String> ofOtherModules)
        implements BeanFactoryPostProcessor {

    /** Says how startup reacts to unknown names. */
    public enum Reaction {
        /** Startup fails. */
        FAIL,
        /**
         * The unknown names are logged at WARN. Useful while an old and a new version of an application share a
         * configuration, because the old version does not know new properties.
         */
        WARN
    }

    private static final String REACTION = "exactly-once.unknown-properties";

    private static final Logger log = LoggerFactory.getLogger(UnknownProperties.class);

    @Override
    public void postProcessBeanFactory(ConfigurableListableBeanFactory beans) {
        try {
            var handler = new NoUnboundElementsBindHandler(BindHandler.DEFAULT, new UnboundElementsSourceFilter());
            Binder.get(environment).bind(group, Bindable.of(type), handler);
        } catch (BindException failure) {
            // Values that cannot be bound are not reported here. Spring reports them when it creates the properties
            // bean.
            if (failure.getCause() instanceof UnboundConfigurationPropertiesException unbound) {
                report(unbound.getUnboundProperties().stream()
                        .filter(property -> !isOfAnotherGroup(property, beans))
                        .map(property -> "%s (set by %s)".formatted(property.getName(), property.getOrigin()))
                        .collect(Collectors.joining(", ")));
            }
        }
    }

    /**
     * Returns whether the property belongs to a group of its own, whose name begins with the name of this group (for
     * example {@code exactly-once.audit}). Names in such a group are checked separately.
     */
    private boolean isOfAnotherGroup(ConfigurationProperty property, ConfigurableListableBeanFactory beans) {
        if (ofOtherModules.stream().anyMatch(other -> isWithin(other, property))) {
            return true;
        }
        for (String bean : beans.getBeanDefinitionNames()) {
            // The argument false keeps factory beans from being created. Created this early, they would miss their
            // injected dependencies.
            var other = beans.findAnnotationOnBean(bean, ConfigurationProperties.class, false);
            if (other != null && other.prefix().startsWith(group + ".") && isWithin(other.prefix(), property)) {
                return true;
            }
        }
        return false;
    }

    /**
     * Returns whether a property belongs to a group. In YAML, the group's heading without entries (for example
     * {@code audit:}) also belongs to the group. A heading that has a value (for example {@code audit: true}) does not
     * belong to it, so this mistake is reported.
     */
    private static boolean isWithin(String prefix, ConfigurationProperty property) {
        ConfigurationPropertyName group = ConfigurationPropertyName.of(prefix);
        boolean isHeading = group.equals(property.getName())
                && String.valueOf(property.getValue()).isEmpty();
        return isHeading || group.isAncestorOf(property.getName());
    }

    private void report(String unknown) {
        if (unknown.isEmpty()) {
            return;
        }
        report(
                Binder.get(environment).bind(REACTION, Reaction.class).orElse(Reaction.FAIL),
                new InvalidPropertyException(
                        group,
                        "Nothing reads " + unknown,
                        "correct the name, give it a value if it has none, or remove it (of a configuration that several versions"
                                + " share: %s=warn)".formatted(REACTION)));
    }

    /** Fails startup, or logs at WARN. */
    public static void report(Reaction reaction, InvalidPropertyException unknown) {
        if (reaction == Reaction.FAIL) {
            throw unknown;
        }
        log.warn("Ignored because of exactly-once.unknown-properties=warn: {}", unknown.problem());
    }
}
