package io.exactlyonce.property;

import java.util.HashMap;
import java.util.Map;
import java.util.Objects;
import java.util.stream.Collectors;
import java.util.stream.Stream;
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
 */
public final class UnknownProperties implements BeanFactoryPostProcessor {

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

    private final ConfigurableEnvironment environment;

    /**
     * Makes a check.
     *
     * @param environment has the properties
     */
    public UnknownProperties(ConfigurableEnvironment environment) {
        this.environment = environment;
    }

    @Override
    public void postProcessBeanFactory(ConfigurableListableBeanFactory beans) {
        Map<ConfigurationPropertyName, Class<?>> groups = new HashMap<>();
        beans.getBeanNamesIterator().forEachRemaining(bean -> {
            // Makes no factory for it, not even to learn a type: what is made now gets nothing injected, and stays so.
            ConfigurationProperties group = beans.findAnnotationOnBean(bean, ConfigurationProperties.class, false);
            if (group != null && ConfigurationPropertyName.isValid(group.prefix())) {
                Class<?> type = Objects.requireNonNullElse(beans.getType(bean, false), Object.class);
                groups.put(ConfigurationPropertyName.of(group.prefix()), type);
            }
        });
        String unknown = groups.entrySet().stream()
                .filter(group -> group.getValue().getName().startsWith("io.exactlyonce."))
                .flatMap(group -> unbound(group.getKey(), group.getValue())
                        .filter(property -> groups.keySet().stream()
                                .filter(group.getKey()::isAncestorOf)
                                .noneMatch(inner ->
                                        inner.equals(property.getName()) || inner.isAncestorOf(property.getName()))))
                .map(property -> "%s (%sset by %s)"
                        .formatted(property.getName(), isEmpty(property) ? "empty, " : "", property.getOrigin()))
                .collect(Collectors.joining(", "));
        if (!unknown.isEmpty()) {
            report(unknown);
        }
    }

    /** Of an empty value a known name has nothing to read, either: a template that comes out empty is a mistake, too. */
    private boolean isEmpty(ConfigurationProperty property) {
        return environment
                .resolvePlaceholders(String.valueOf(property.getValue()))
                .isBlank();
    }

    private Stream<ConfigurationProperty> unbound(ConfigurationPropertyName group, Class<?> type) {
        try {
            var handler = new NoUnboundElementsBindHandler(BindHandler.DEFAULT, new UnboundElementsSourceFilter());
            Binder.get(environment).bind(group, Bindable.of(type), handler);
            return Stream.empty();
        } catch (BindException failure) {
            // Of wrong values the bean's own binding tells.
            return failure.getCause() instanceof UnboundConfigurationPropertiesException unbound
                    ? unbound.getUnboundProperties().stream()
                    : Stream.empty();
        }
    }

    private void report(String unknown) {
        if (Binder.get(environment).bind(REACTION, Reaction.class).orElse(Reaction.FAIL) == Reaction.FAIL) {
            throw new InvalidPropertyException(
                    ROOT,
                    "Nothing reads " + unknown,
                    "correct the name, or remove it (of a configuration that several versions share: %s=warn)"
                            .formatted(REACTION));
        }
        log.warn("Nothing reads {}", unknown);
    }
}
