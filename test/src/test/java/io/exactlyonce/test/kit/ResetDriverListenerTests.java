package io.exactlyonce.test.kit;

import static org.assertj.core.api.Assertions.assertThat;
import static org.mockito.Mockito.mock;
import static org.mockito.Mockito.when;

import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import org.springframework.beans.factory.FactoryBean;
import org.springframework.context.support.GenericApplicationContext;
import org.springframework.test.context.TestContext;

/** It is told of all tests of an application, also of those that have no driver. */
class ResetDriverListenerTests {

    private static final AtomicInteger MADE = new AtomicInteger();

    /** Tells its type once it is made. */
    @SuppressWarnings("rawtypes")
    static class Expensive implements FactoryBean {

        Expensive() {
            MADE.incrementAndGet();
        }

        @Override
        public Object getObject() {
            return "expensive";
        }

        @Override
        public Class<?> getObjectType() {
            return String.class;
        }
    }

    @Test
    void lazyBeansOfTestsWithoutADriverStayUnmade() {
        try (GenericApplicationContext application = new GenericApplicationContext()) {
            application.registerBean("expensive", Expensive.class, definition -> definition.setLazyInit(true));
            application.refresh();
            TestContext test = mock(TestContext.class);
            when(test.hasApplicationContext()).thenReturn(true);
            when(test.getApplicationContext()).thenReturn(application);

            new ResetDriverListener().beforeTestMethod(test);

            assertThat(MADE).hasValue(0);
        }
    }
}
