package io.exactlyonce.autoconfigure;

import io.exactlyonce.result.ResultSerializer;
import java.lang.reflect.Type;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import org.jspecify.annotations.Nullable;
import tools.jackson.core.JacksonException;
import tools.jackson.databind.exc.InvalidDefinitionException;
import tools.jackson.databind.json.JsonMapper;
import tools.jackson.databind.jsontype.BasicPolymorphicTypeValidator;

/**
 * Results as JSON, written and read by the application's mapper; except that no class is ever chosen by its name in the
 * stored text, whatever the mapper allows elsewhere.
 */
final class JacksonResultSerializer implements ResultSerializer {

    private final JsonMapper mapper;

    /** Types of which it is known, since an exception is dear. The application has a few of them. */
    private final Set<Type> readable = ConcurrentHashMap.newKeySet();

    JacksonResultSerializer(JsonMapper mapper) {
        this.mapper = mapper.rebuild()
                .deactivateDefaultTyping()
                .polymorphicTypeValidator(
                        BasicPolymorphicTypeValidator.builder().build())
                .build();
    }

    @Override
    public String toJson(Object result) {
        return mapper.writeValueAsString(result);
    }

    @Override
    public String toJson(Object result, Type type) {
        return mapper.writerFor(mapper.constructType(type)).writeValueAsString(result);
    }

    @Override
    public @Nullable Object fromJson(String json, Type type) {
        return mapper.readValue(json, mapper.constructType(type));
    }

    /** An object without fields fits few types, but only a type that nothing can be read as has an invalid definition. */
    @Override
    public @Nullable String whyUnreadable(Type type) {
        if (readable.contains(type)) {
            return null;
        }
        try {
            fromJson("{}", type);
        } catch (InvalidDefinitionException unreadable) {
            return unreadable.getOriginalMessage();
        } catch (JacksonException unfit) {
            // Another text fits.
        }
        readable.add(type);
        return null;
    }
}
