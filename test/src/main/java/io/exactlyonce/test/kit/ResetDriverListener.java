package io.exactlyonce.test.kit;

import org.springframework.test.context.TestContext;
import org.springframework.test.context.TestExecutionListener;

/** Has each test method begin without messages and claims. Of a test without a driver it makes nothing, not even to learn a type. */
final class ResetDriverListener implements TestExecutionListener {

    @Override
    public void beforeTestMethod(TestContext test) {
        if (test.hasApplicationContext()) {
            // Unlike the stream, getIfAvailable() makes lazy factories of beans to learn their types, whatever the
            // provider is told.
            test.getApplicationContext().getBeanProvider(ExactlyOnceDriver.class, false).stream()
                    .forEach(ExactlyOnceDriver::reset);
        }
    }
}
