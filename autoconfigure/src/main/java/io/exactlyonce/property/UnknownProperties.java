package io.exactlyonce.property;

import java.util.ArrayList;
import java.util.List;
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
 * @param type what the properties are bound to
 */
public record UnknownProperties(ConfigurableEnvironment environment, Class<?> type)
        implements BeanFactoryPostProcessor {

    /** What becomes of the start. */
    public enum Reaction {
        /** It fails. */
        FAIL,
        /** It goes on, and the names are logged: several versions of an application share a configuration, and each knows other names. */
        WARN
    }

    private static final String ROOT = "exactly-once";
    private static final String REACTION = "exactly-once.unknown-properties";

    private static final Logger log = LoggerFactory.getLogger(UnknownProperties.class);

    @Override
    public void postProcessBeanFactory(ConfigurableListableBeanFactory beans) {
        List<ConfigurationProperty> unknown = new ArrayList<>(unbound(ROOT, type));
        if (!unknown.isEmpty()) {
            beans.getBeanNamesIterator().forEachRemaining(bean -> leaveToGroup(bean, beans, unknown));
        }
        if (!unknown.isEmpty()) {
            report(unknown.stream().map(this::describe).collect(Collectors.joining(", ")));
        }
    }

    /** A group within ours has its own names. Which of them it knows is asked of those that we have made, and no others. */
    private void leaveToGroup(String bean, ConfigurableListableBeanFactory beans, List<ConfigurationProperty> unknown) {
        // Makes no factory for it, not even to learn a type: what is made now gets nothing injected, and stays so.
        ConfigurationProperties group = beans.findAnnotationOnBean(bean, ConfigurationProperties.class, false);
        if (group != null && group.prefix().startsWith(ROOT + ".")) {
            ConfigurationPropertyName name = ConfigurationPropertyName.of(group.prefix());
            unknown.removeIf(property -> name.equals(property.getName()) || name.isAncestorOf(property.getName()));
            Class<?> its = beans.getType(bean, false);
            if (its != null && its.getName().startsWith("io.exactlyonce.")) {
                unknown.addAll(unbound(group.prefix(), its));
            }
        }
    }

    private Set<ConfigurationProperty> unbound(String name, Class<?> group) {
        try {
            var handler = new NoUnboundElementsBindHandler(BindHandler.DEFAULT, new UnboundElementsSourceFilter());
            Binder.get(environment).bind(name, Bindable.of(group), handler);
            return Set.of();
        } catch (BindException failure) {
            // Of wrong values the bean's own binding tells.
            return failure.getCause() instanceof UnboundConfigurationPropertiesException unbound
                    ? unbound.getUnboundProperties()
                    : Set.of();
        }
    }

    /** Of an empty value a known name has nothing to read, either: a template that comes out empty is a mistake, too. */
    private String describe(ConfigurationProperty property) {
        String value = environment.resolvePlaceholders(String.valueOf(property.getValue()));
        return "%s (%sset by %s)".formatted(property.getName(), value.isBlank() ? "empty, " : "", property.getOrigin());
    }

    private void report(String unknown) {
        if (Binder.get(environment).bind(REACTION, Reaction.class).orElse(Reaction.FAIL) == Reaction.WARN) {
            log.warn("Nothing reads {}", unknown);
            return;
        }
        String versions = " (of a configuration that several versions share: %s=warn)".formatted(REACTION);
        throw new InvalidPropertyException(
                ROOT, "Nothing reads " + unknown, "correct the name, or remove it" + versions);
    }
}
