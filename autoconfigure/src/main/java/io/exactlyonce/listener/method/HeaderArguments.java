package io.exactlyonce.listener.method;

import java.lang.reflect.Method;
import java.util.Optional;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;
import org.springframework.core.DefaultParameterNameDiscoverer;
import org.springframework.core.MethodParameter;
import org.springframework.core.ParameterNameDiscoverer;
import org.springframework.core.annotation.SynthesizingMethodParameter;
import org.springframework.core.convert.ConversionException;
import org.springframework.core.convert.ConversionService;
import org.springframework.core.convert.TypeDescriptor;
import org.springframework.core.convert.support.DefaultConversionService;
import org.springframework.messaging.MessageHeaders;
import org.springframework.messaging.handler.annotation.Header;
import org.springframework.messaging.handler.annotation.ValueConstants;

/** Finds out which header a method could not be given: Spring's exceptions name it among what the message contains. */
final class HeaderArguments {

    private static final ParameterNameDiscoverer PARAMETER_NAMES = new DefaultParameterNameDiscoverer();

    /** As awspring's. */
    private static final ConversionService CONVERSIONS = new DefaultConversionService();

    private HeaderArguments() {}

    /** Returns what is wrong with the first header that is, by the name that the method gives it. */
    static Optional<String> unfit(Method method, MessageHeaders headers) {
        return IntStream.range(0, method.getParameterCount())
                .mapToObj(index -> parameter(method, index))
                .flatMap(parameter -> unfit(parameter, headers).stream())
                .findFirst();
    }

    private static MethodParameter parameter(Method method, int index) {
        MethodParameter parameter = new SynthesizingMethodParameter(method, index);
        parameter.initParameterNameDiscovery(PARAMETER_NAMES);
        return parameter;
    }

    private static Optional<String> unfit(MethodParameter parameter, MessageHeaders headers) {
        Header annotation = parameter.getParameterAnnotation(Header.class);
        if (annotation == null) {
            return Optional.empty();
        }
        String name = annotation.name().isEmpty() ? parameter.getParameterName() : annotation.name();
        Object value = name == null ? null : headers.get(name);
        if (value == null) {
            boolean hasDefault = !ValueConstants.DEFAULT_NONE.equals(annotation.defaultValue());
            return annotation.required() && !hasDefault && !parameter.isOptional()
                    ? Optional.of("the header '%s' is missing".formatted(name))
                    : Optional.empty();
        }
        return isConvertible(value, parameter)
                ? Optional.empty()
                : Optional.of("the header '%s' cannot be converted to %s"
                        .formatted(name, parameter.getParameterType().getName()));
    }

    private static boolean isConvertible(@Nullable Object value, MethodParameter parameter) {
        try {
            CONVERSIONS.convert(value, TypeDescriptor.forObject(value), new TypeDescriptor(parameter));
            return true;
        } catch (ConversionException unfit) {
            return false;
        }
    }
}
