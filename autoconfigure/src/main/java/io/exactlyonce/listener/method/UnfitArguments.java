package io.exactlyonce.listener.method;

import io.exactlyonce.listener.message.FailureOutline;
import io.exactlyonce.listener.message.UnreadableReason;
import java.lang.reflect.Method;
import java.util.Optional;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.beans.InvalidPropertyException;
import org.springframework.core.DefaultParameterNameDiscoverer;
import org.springframework.core.MethodParameter;
import org.springframework.core.ParameterNameDiscoverer;
import org.springframework.core.annotation.SynthesizingMethodParameter;
import org.springframework.core.convert.ConversionException;
import org.springframework.core.convert.ConversionService;
import org.springframework.core.convert.TypeDescriptor;
import org.springframework.core.convert.support.DefaultConversionService;
import org.springframework.messaging.MessageHeaders;
import org.springframework.messaging.MessagingException;
import org.springframework.messaging.converter.MessageConversionException;
import org.springframework.messaging.handler.annotation.Header;
import org.springframework.messaging.handler.annotation.ValueConstants;

/**
 * Messages of which a method's arguments cannot be made. Spring's exceptions quote the value, or payload and headers,
 * with whatever line breaks their sender put there; and they end in logs.
 */
final class UnfitArguments {

    private static final Logger log = LoggerFactory.getLogger(UnfitArguments.class);

    private static final ParameterNameDiscoverer PARAMETER_NAMES = new DefaultParameterNameDiscoverer();

    /** As awspring's. */
    private static final ConversionService CONVERSIONS = new DefaultConversionService();

    private UnfitArguments() {}

    /** Spring fails with the property's path, and the keys in it, where a validated payload cannot be asked for one. */
    static boolean mayQuoteContent(Throwable failure) {
        return failure instanceof MessagingException
                || failure instanceof ConversionException
                || FailureOutline.causes(failure).anyMatch(InvalidPropertyException.class::isInstance);
    }

    /**
     * Returns what to throw instead.
     *
     * @param message names the message
     * @param method that it was for
     * @param headers the message's own, if it was a single one
     * @param failure thrown before the method's proxy was called
     */
    static MessagingException withoutContent(
            Object message, ListenerMethod method, MessageHeaders headers, RuntimeException failure) {
        if (log.isDebugEnabled()) {
            log.debug("Why {} cannot be handed to {}", message, method, FailureOutline.of(failure));
        }
        String reason = unfitHeader(method.method(), headers).orElseGet(() -> UnreadableReason.of(failure));
        return new MessageConversionException(
                "%s cannot be handed to %s: %s; send what it takes, or correct its parameters (DEBUG of %s tells more)"
                        .formatted(message, method, reason, log.getName()));
    }

    /** Returns why a parameter's argument cannot be made of a message with these headers, without quoting any of it. */
    static String reason(MethodParameter parameter, MessageHeaders headers, Throwable failure) {
        return unfitHeader(parameter, headers).orElseGet(() -> UnreadableReason.of(failure));
    }

    /**
     * Returns what is wrong with the first header that the method cannot be given, by the name that the method gives it:
     * Spring's exceptions name it among what the message contains.
     */
    private static Optional<String> unfitHeader(Method method, MessageHeaders headers) {
        return IntStream.range(0, method.getParameterCount())
                .mapToObj(index -> parameter(method, index))
                .flatMap(parameter -> unfitHeader(parameter, headers).stream())
                .findFirst();
    }

    private static MethodParameter parameter(Method method, int index) {
        MethodParameter parameter = new SynthesizingMethodParameter(method, index);
        parameter.initParameterNameDiscovery(PARAMETER_NAMES);
        return parameter;
    }

    private static Optional<String> unfitHeader(MethodParameter parameter, MessageHeaders headers) {
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
