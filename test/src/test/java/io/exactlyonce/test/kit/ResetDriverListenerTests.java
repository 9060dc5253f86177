package io.exactlyonce.test.kit;

import static org.assertj.core.api.Assertions.assertThat;
import static org.mockito.Mockito.mock;
import static org.mockito.Mockito.when;

import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.slf4j.LoggerFactory;
import org.springframework.beans.factory.FactoryBean;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;
import org.springframework.context.support.GenericApplicationContext;
import org.springframework.test.context.TestContext;
import tools.jackson.databind.json.JsonMapper;

/** Spring calls {@code ResetDriverListener} for all tests of an application, even for tests without a driver. */
@ExtendWith(OutputCaptureExtension.class)
class ResetDriverListenerTests {

    private final Journal journal = new Journal();

    private static final AtomicInteger MADE = new AtomicInteger();

    /** A factory bean whose type is known only after the bean is created. */
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

    @Test
    void onlyATestThatFailsLogsItsDeliveries(CapturedOutput output) {
        ExactlyOnceDriver driver = new ExactlyOnceDriver(
                new TestClock(), new TestQueues(new TestClock()), store(), journal, JsonMapper.shared());
        try (GenericApplicationContext application = new GenericApplicationContext()) {
            application.registerBean(ExactlyOnceDriver.class, () -> driver);
            application.refresh();
            TestContext test = mock(TestContext.class);
            when(test.hasApplicationContext()).thenReturn(true);
            when(test.getApplicationContext()).thenReturn(application);
            ResetDriverListener listener = new ResetDriverListener();

            listener.beforeTestMethod(test);
            Delivered failed = new Delivered(new Letter(TestMessage.ofBody("A-1"), "orders", "A-1"), true);
            failed.handlerEnded(new IllegalStateException("closed"));
            journal.expect(List.of(failed));
            LoggerFactory.getLogger("io.exactlyonce.renewal.Lease").error("lost");
            listener.afterTestMethod(test);
            assertThat(output).doesNotContain("ERROR");

            when(test.getTestException()).thenReturn(new AssertionError("not as expected"));
            listener.afterTestMethod(test);
            LoggerFactory.getLogger("io.exactlyonce.renewal.Lease").error("lost again");
            assertThat(output)
                    .contains("The test has failed. message", "java.lang.IllegalStateException: closed", "lost again");
        }
    }

    private TestStore store() {
        return new TestStore(new TestClock(), journal);
    }
}
