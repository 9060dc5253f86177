package io.exactlyonce.property;

import java.util.List;
import java.util.Locale;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.beans.factory.config.BeanFactoryPostProcessor;
import org.springframework.beans.factory.config.ConfigurableListableBeanFactory;
import org.springframework.boot.context.properties.ConfigurationProperties;
import org.springframework.boot.context.properties.bind.Binder;
import org.springframework.boot.context.properties.source.ConfigurationProperty;
import org.springframework.boot.context.properties.source.ConfigurationPropertyName;
import org.springframework.boot.context.properties.source.ConfigurationPropertyName.Form;
import org.springframework.boot.context.properties.source.ConfigurationPropertySource;
import org.springframework.boot.context.properties.source.ConfigurationPropertySources;
import org.springframework.boot.context.properties.source.IterableConfigurationPropertySource;
import org.springframework.core.env.ConfigurableEnvironment;
import org.springframework.core.env.EnumerablePropertySource;
import org.springframework.core.env.SystemEnvironmentPropertySource;
import org.springframework.util.StringUtils;

/**
 * Stops the start at names of properties that nothing reads, unless told only to warn, and at empty values, before anything is made. Spring passes over them
 * in silence, and a misspelt {@code retention} would be found out by a duplicate weeks later.
 *
 * <p>Variables of the environment are only warned of, where they nearly are a property's. They are not the application's alone: for
 * a service named {@code exactly-once-claims} Kubernetes sets {@code EXACTLY_ONCE_CLAIMS_PORT}, and placeholders read what they like.
 */
public final class PropertyNameCheck implements BeanFactoryPostProcessor {

    /** As Spring Boot reads it, and as it is written by those who replace dashes by underscores. */
    private static final Pattern VARIABLE = Pattern.compile("(EXACTLY_?ONCE_)(.+)");

    private static final String UNKNOWN = "exactly-once.unknown-properties";

    private static final Logger log = LoggerFactory.getLogger(PropertyNameCheck.class);

    private final ConfigurableEnvironment environment;

    /**
     * Makes a check.
     *
     * @param environment has the properties
     */
    public PropertyNameCheck(ConfigurableEnvironment environment) {
        this.environment = environment;
    }

    @Override
    public void postProcessBeanFactory(ConfigurableListableBeanFactory beans) {
        KnownProperties known = new KnownProperties();
        beans.getBeanNamesIterator().forEachRemaining(bean -> add(bean, beans, known));
        UnknownProperties unknown =
                Binder.get(environment).bind(UNKNOWN, UnknownProperties.class).orElse(UnknownProperties.FAIL);
        for (ConfigurationPropertySource source : ConfigurationPropertySources.from(environment.getPropertySources())) {
            if (source.getUnderlyingSource() instanceof SystemEnvironmentPropertySource variables) {
                checkVariables(variables, known);
            } else if (source instanceof IterableConfigurationPropertySource names) {
                names.stream().filter(KnownProperties.ROOT::isAncestorOf).forEach(name -> {
                    check(name, known, unknown);
                    requireNoValue(names.getConfigurationProperty(name), known);
                });
            }
        }
        known.neverEmpty().forEach(this::requireValue);
    }

    /**
     * Of empty values Spring takes some for no value, and refuses others. A placeholder or a template that comes out empty is a mistake
     * in both cases, and a retention must not be the default by mistake.
     */
    private void requireValue(ConfigurationPropertyName name) {
        if (WrittenProperty.find(environment, name).filter(this::isEmpty).isPresent()) {
            throw new InvalidPropertyException(
                    name.toString(), "%s is empty".formatted(name), "give it a value, or remove it for its default");
        }
    }

    /**
     * Spring passes over the value of a group in silence, as in {@code exactly-once.renewal=false}. An empty one is a heading in YAML.
     * It is not told: that of {@code datasource} may be a URL with a password.
     */
    private void requireNoValue(@Nullable ConfigurationProperty property, KnownProperties known) {
        if (property != null && !isEmpty(property)) {
            known.members(property.getName()).ifPresent(members -> {
                throw new InvalidPropertyException(
                        property.getName().toString(),
                        "%s must have no value: it is a group of properties".formatted(property.getName()),
                        members);
            });
        }
    }

    private boolean isEmpty(ConfigurationProperty property) {
        return environment
                .resolvePlaceholders(String.valueOf(property.getValue()))
                .isBlank();
    }

    /** Makes no factory for it, not even to learn a type: what is made now gets nothing injected, and stays so. */
    private static void add(String bean, ConfigurableListableBeanFactory beans, KnownProperties known) {
        var annotation = beans.findAnnotationOnBean(bean, ConfigurationProperties.class, false);
        Class<?> type = beans.getType(bean, false);
        if (annotation != null && type != null && StringUtils.hasText(annotation.prefix())) {
            ConfigurationPropertyName prefix = ConfigurationPropertyName.of(annotation.prefix());
            if (KnownProperties.ROOT.equals(prefix) || KnownProperties.ROOT.isAncestorOf(prefix)) {
                known.add(prefix, type);
            }
        }
    }

    private static void check(ConfigurationPropertyName name, KnownProperties known, UnknownProperties unknown) {
        known.correction(name).ifPresent(correction -> {
            if (unknown == UnknownProperties.WARN) {
                log.warn("{} is no property that is known: {}", name, correction);
                return;
            }
            throw new InvalidPropertyException(
                    name.toString(),
                    "%s is no property that is known".formatted(name),
                    "%s (a configuration that several versions share: %s=warn)".formatted(correction, UNKNOWN));
        });
        List<ConfigurationPropertyName> candidates = known.candidates(name);
        if (!candidates.isEmpty()) {
            log.warn("The starter does not read {}; it reads {}", name, candidates);
        }
    }

    private static void checkVariables(EnumerablePropertySource<?> variables, KnownProperties known) {
        for (String variable : variables.getPropertyNames()) {
            Matcher ours = VARIABLE.matcher(variable.toUpperCase(Locale.ROOT));
            if (ours.matches()) {
                known.variableMeant(ours.group(2))
                        .ifPresent(meant -> log.warn(
                                "The starter does not read the environment's {}; did you mean {}, which is {}?",
                                variable,
                                variable(meant),
                                meant));
            }
        }
    }

    private static String variable(ConfigurationPropertyName name) {
        StringBuilder variable = new StringBuilder();
        for (int index = 0; index < name.getNumberOfElements(); index++) {
            variable.append(index == 0 ? "" : "_").append(name.getElement(index, Form.UNIFORM));
        }
        return variable.toString().toUpperCase(Locale.ROOT);
    }
}
