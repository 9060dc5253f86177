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
 * Stops the start at names within {@code exactly-once} that nothing reads, unless told only to warn. Spring passes over them in silence,
 * and a misspelt {@code retention} would be found out by a duplicate weeks later. Names and places are told, never values: one may be a
 * password.
 *
 * <p>Spring Boot's filter leaves out variables of the environment and system properties, which other programs set, too.
 *
 * @param environment has the properties
 * @param group the name that they begin with, {@code exactly-once} or one within
 * @param type what they are bound to
 * @param ofOtherModules groups within it that a module reads which may be missing, and which looks after them where it is there
 */
public record UnknownProperties(
        ConfigurableEnvironment environment, String group, Class<?> type, Set<String> ofOtherModules)
        implements BeanFactoryPostProcessor {

    /** What becomes of the start. */
    public enum Reaction {
        /** It fails. */
        FAIL,
        /** It goes on, and the names are logged: several versions of an application share a configuration, and each knows other names. */
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
            // Of wrong values the bean's own binding tells.
            if (failure.getCause() instanceof UnboundConfigurationPropertiesException unbound) {
                report(unbound.getUnboundProperties().stream()
                        .filter(property -> !isOfAnotherGroup(property, beans))
                        .map(property -> "%s (set by %s)".formatted(property.getName(), property.getOrigin()))
                        .collect(Collectors.joining(", ")));
            }
        }
    }

    /** A group within this one has its own names, which are left to its own check. */
    private boolean isOfAnotherGroup(ConfigurationProperty property, ConfigurableListableBeanFactory beans) {
        if (ofOtherModules.stream().anyMatch(other -> isWithin(other, property))) {
            return true;
        }
        for (String bean : beans.getBeanDefinitionNames()) {
            // Makes no factory for it, not even to learn a type: what is made now gets nothing injected, and stays so.
            var other = beans.findAnnotationOnBean(bean, ConfigurationProperties.class, false);
            if (other != null && other.prefix().startsWith(group + ".") && isWithin(other.prefix(), property)) {
                return true;
            }
        }
        return false;
    }

    /** A heading without a value is no mistake; a value at the heading, as of a setting within the group, is one. */
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

    /** Stops the start, or only warns. */
    public static void report(Reaction reaction, InvalidPropertyException unknown) {
        if (reaction == Reaction.FAIL) {
            throw unknown;
        }
        log.warn("Ignored, as exactly-once.unknown-properties says: {}", unknown.problem());
    }
}
