package io.exactlyonce.listener.aot;

import io.awspring.cloud.sqs.annotation.SqsHandler;
import io.exactlyonce.ExactlyOnceListener;
import io.exactlyonce.listener.expression.ExpressionReferences;
import io.exactlyonce.listener.method.ExactlyOnceAdvisor;
import java.lang.reflect.Method;
import java.lang.reflect.Type;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.springframework.aot.generate.GenerationContext;
import org.springframework.aot.hint.BindingReflectionHintsRegistrar;
import org.springframework.aot.hint.ExecutableMode;
import org.springframework.aot.hint.MemberCategory;
import org.springframework.aot.hint.ReflectionHints;
import org.springframework.beans.factory.aot.BeanRegistrationAotContribution;
import org.springframework.beans.factory.aot.BeanRegistrationAotProcessor;
import org.springframework.beans.factory.aot.BeanRegistrationCode;
import org.springframework.beans.factory.config.ConfigurableListableBeanFactory;
import org.springframework.beans.factory.support.RegisteredBean;
import org.springframework.core.MethodIntrospector;
import org.springframework.core.annotation.AnnotatedElementUtils;
import org.springframework.expression.ExpressionException;
import org.springframework.expression.TypeLocator;
import org.springframework.expression.spel.support.StandardTypeLocator;
import org.springframework.util.ReflectionUtils.MethodFilter;
import org.springframework.util.StringUtils;

/**
 * Registers the reflection that listeners need in a native image. Spring Cloud AWS calls the methods of listeners, and
 * converters create payloads. Key expressions read payloads and call beans. Results of handlers are written as JSON and
 * read again.
 */
final class ListenerAotProcessor implements BeanRegistrationAotProcessor {

    @Override
    public @Nullable BeanRegistrationAotContribution processAheadOfTime(RegisteredBean bean) {
        Class<?> type = bean.getBeanClass();
        if (!ExactlyOnceAdvisor.isListener(type)) {
            return null;
        }
        Set<Method> methods = MethodIntrospector.selectMethods(type, (MethodFilter) ListenerAotProcessor::isHandler);
        return methods.isEmpty() ? null : new Contribution(type, methods, bean.getBeanFactory());
    }

    private static boolean isHandler(Method method) {
        return AnnotatedElementUtils.hasAnnotation(method, ExactlyOnceListener.class)
                || AnnotatedElementUtils.hasAnnotation(method, SqsHandler.class);
    }

    private record Contribution(Class<?> type, Set<Method> methods, ConfigurableListableBeanFactory beans)
            implements BeanRegistrationAotContribution {

        @Override
        public void applyTo(GenerationContext context, BeanRegistrationCode code) {
            ReflectionHints hints = context.getRuntimeHints().reflection();
            for (Method method : methods) {
                hints.registerMethod(method, ExecutableMode.INVOKE);
                registerTypes(hints, method.getGenericParameterTypes());
                registerTypes(hints, method.getGenericReturnType());
                registerExpressions(
                        hints, AnnotatedElementUtils.findMergedAnnotation(method, ExactlyOnceListener.class));
            }
            registerExpressions(hints, AnnotatedElementUtils.findMergedAnnotation(type, ExactlyOnceListener.class));
        }

        private void registerExpressions(ReflectionHints hints, @Nullable ExactlyOnceListener listener) {
            if (listener == null) {
                return;
            }
            for (String text : List.of(listener.key(), listener.fingerprint())) {
                try {
                    String expression = beans.resolveEmbeddedValue(text);
                    if (StringUtils.hasText(expression)) {
                        registerReferences(hints, ExpressionReferences.of(expression));
                    }
                } catch (IllegalArgumentException | IllegalStateException | ExpressionException unreadable) {
                    // Nothing is registered for an expression that cannot be parsed here. Either a placeholder has no
                    // value at build time, or the expression has a mistake, which will fail the application's startup.
                }
            }
        }

        private void registerReferences(ReflectionHints hints, ExpressionReferences named) {
            TypeLocator types = new StandardTypeLocator(beans.getBeanClassLoader());
            Stream.concat(
                            named.types().stream().map(types::findType),
                            named.beans().stream().filter(beans::containsBean).map(name -> beans.getType(name, false)))
                    .filter(Objects::nonNull)
                    .forEach(found -> hints.registerType(
                            found,
                            MemberCategory.INVOKE_PUBLIC_CONSTRUCTORS,
                            MemberCategory.INVOKE_PUBLIC_METHODS,
                            MemberCategory.ACCESS_PUBLIC_FIELDS));
        }

        /**
         * Registers types, and also the types inside them, such as {@code Order} in {@code List<Order>}. All their
         * public methods are registered, because a key expression may call any of them.
         */
        private static void registerTypes(ReflectionHints hints, Type... types) {
            ReflectionHints named = new ReflectionHints();
            Stream.of(hints, named)
                    .forEach(each -> new BindingReflectionHintsRegistrar().registerReflectionHints(each, types));
            named.typeHints().forEach(type -> hints.registerType(type.getType(), MemberCategory.INVOKE_PUBLIC_METHODS));
        }
    }
}
