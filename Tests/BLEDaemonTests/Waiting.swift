/// Waits until `condition` holds, which something else brings about; throws if the test runs out of time.
func waiting(until condition: () throws -> Bool) async throws {
    while try !condition() {
        try Task.checkCancellation()
        await Task.yield()
    }
}
