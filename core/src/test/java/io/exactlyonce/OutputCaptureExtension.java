package io.exactlyonce;

import org.junit.jupiter.api.extension.AfterEachCallback;
import org.junit.jupiter.api.extension.BeforeEachCallback;
import org.junit.jupiter.api.extension.ExtensionContext;
import org.junit.jupiter.api.extension.ExtensionContext.Namespace;
import org.junit.jupiter.api.extension.ParameterContext;
import org.junit.jupiter.api.extension.ParameterResolver;

/** Captures the output of each test. Tests of the engine cannot use Spring Boot's extension of the same name. */
public final class OutputCaptureExtension implements BeforeEachCallback, AfterEachCallback, ParameterResolver {

    private static final Namespace NAMESPACE = Namespace.create(OutputCaptureExtension.class);

    @Override
    public void beforeEach(ExtensionContext context) {
        context.getStore(NAMESPACE).put(CapturedOutput.class, new CapturedOutput());
    }

    @Override
    public void afterEach(ExtensionContext context) {
        captured(context).release();
    }

    @Override
    public boolean supportsParameter(ParameterContext parameter, ExtensionContext context) {
        return parameter.getParameter().getType() == CapturedOutput.class;
    }

    @Override
    public Object resolveParameter(ParameterContext parameter, ExtensionContext context) {
        return captured(context);
    }

    private static CapturedOutput captured(ExtensionContext context) {
        return context.getStore(NAMESPACE).get(CapturedOutput.class, CapturedOutput.class);
    }
}
