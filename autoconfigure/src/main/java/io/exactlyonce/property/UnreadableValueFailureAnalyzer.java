package io.exactlyonce.property;

import java.time.Duration;
import java.util.Arrays;
import java.util.Locale;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import org.springframework.boot.context.properties.bind.BindException;
import org.springframework.boot.context.properties.source.ConfigurationProperty;
import org.springframework.boot.diagnostics.AbstractFailureAnalyzer;
import org.springframework.boot.diagnostics.FailureAnalysis;
import org.springframework.core.annotation.Order;
import org.springframework.core.convert.ConversionException;
import org.springframework.util.ClassUtils;
import org.springframework.util.unit.DataSize;

/**
 * Explains that the value of a property of ours cannot be read as what it has to be; before Spring Boot's own analyzer, which tells
 * neither how it is written nor its bounds.
 */
@Order(0)
final class UnreadableValueFailureAnalyzer extends AbstractFailureAnalyzer<BindException> {

    @Override
    protected @Nullable FailureAnalysis analyze(Throwable rootFailure, BindException failure) {
        ConfigurationProperty written = failure.getProperty();
        String form = form(failure.getTarget().getType().resolve(Object.class));
        if (written == null
                || form == null
                || !KnownProperties.ROOT.isAncestorOf(failure.getName())
                || findCause(failure, ConversionException.class) == null) {
            return null;
        }
        String description = WrittenProperty.line("%s ('%s') must be %s%s"
                .formatted(failure.getName(), written.getValue(), form, WrittenProperty.origin(written)));
        String action = "Correct it, or remove it for its default."
                + WrittenProperty.description(failure.getName())
                        .map(" It is: "::concat)
                        .orElse("");
        return new FailureAnalysis(description, action, failure);
    }

    private static @Nullable String form(Class<?> type) {
        Class<?> wrapped = ClassUtils.resolvePrimitiveIfNecessary(type);
        if (wrapped.isEnum()) {
            return "one of "
                    + Arrays.stream(wrapped.getEnumConstants())
                            .map(constant -> String.valueOf(constant).toLowerCase(Locale.ROOT))
                            .collect(Collectors.joining(", "));
        }
        if (wrapped == Duration.class) {
            return "a number with its unit, such as 500ms, 30s, 5m, 12h or 18d";
        }
        if (wrapped == DataSize.class) {
            return "a number with its unit, such as 64KB or 1MB";
        }
        if (wrapped == Boolean.class) {
            return "true or false";
        }
        if (wrapped == Integer.class) {
            return "a whole number";
        }
        return wrapped == Double.class ? "a number such as 0.5" : null;
    }
}
