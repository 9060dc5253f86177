package io.exactlyonce.test.kit;

import org.springframework.test.context.TestContext;
import org.springframework.test.context.TestExecutionListener;

/** Has each test method begin without messages and claims. */
final class ResetDriverListener implements TestExecutionListener {

    @Override
    public void beforeTestMethod(TestContext test) {
        if (test.hasApplicationContext()) {
            test.getApplicationContext()
                    .getBeanProvider(ExactlyOnceDriver.class)
                    .ifAvailable(ExactlyOnceDriver::reset);
        }
    }
}
