package io.exactlyonce.test.kit;

import io.awspring.cloud.sqs.config.SqsListenerConfigurer;
import io.exactlyonce.ExactlyOnceListener;
import io.exactlyonce.Reconciler;
import java.io.IOException;
import java.util.Set;
import org.springframework.boot.test.autoconfigure.TestSliceTestContextBootstrapper;
import org.springframework.boot.test.context.filter.annotation.StandardAnnotationCustomizableTypeExcludeFilter;
import org.springframework.core.type.AnnotationMetadata;
import org.springframework.core.type.classreading.MetadataReader;
import org.springframework.core.type.classreading.MetadataReaderFactory;

/** The components of an application that tests with {@link ExactlyOnceTest} use. */
final class ListenerSlice {

    private ListenerSlice() {}

    static final class Bootstrapper extends TestSliceTestContextBootstrapper<ExactlyOnceTest> {

        Bootstrapper() {}
    }

    /**
     * Keeps the application's components that have listener methods or that the test names, and the beans that these
     * need.
     */
    static final class Components extends StandardAnnotationCustomizableTypeExcludeFilter<ExactlyOnceTest> {

        private static final Set<Class<?>> SERVANTS = Set.of(Reconciler.class, SqsListenerConfigurer.class);

        private final Set<Class<?>> listeners;

        Components(Class<?> testClass) {
            super(testClass);
            this.listeners =
                    Set.of(getAnnotation().getValue("listeners", Class[].class).orElse(new Class<?>[0]));
        }

        @Override
        protected Set<Class<?>> getKnownIncludes() {
            return SERVANTS;
        }

        @Override
        protected Set<Class<?>> getComponentIncludes() {
            return listeners;
        }

        @Override
        protected boolean defaultInclude(MetadataReader type, MetadataReaderFactory types) throws IOException {
            return super.defaultInclude(type, types)
                    || (listeners.isEmpty() && isListener(type.getAnnotationMetadata()));
        }

        private static boolean isListener(AnnotationMetadata type) {
            String annotation = ExactlyOnceListener.class.getName();
            return type.hasAnnotatedMethods(annotation) || type.isAnnotated(annotation);
        }
    }
}
