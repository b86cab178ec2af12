import BLERuntime

extension Machine {
    /// Has the whole process live in this machine: managers that any thread, queue, timer or task makes from now on
    /// use its radio, unless they are made within `inhabit`.
    ///
    /// That is for tests that run one after the other, as those of XCTest do, for instance in `setUp()`; it holds until
    /// it is said of another machine, or ``World/leaveProcess()``. A process lives in one machine at a time, so tests
    /// of Swift Testing, which run side by side, say it with a closure.
    public func inhabitProcessWide() { ProcessSeat.move(to: self) }

    /// Has the whole process live in this machine while `body` runs.
    ///
    /// Whoever else calls this meanwhile, such as another test, waits until `body` has returned: tests that need it run
    /// one after the other, and beside those that use `inhabit` alone. `body` must not call it again.
    ///
    /// ```swift
    /// @Test func reading() async {
    ///     let world = World(seed: 7)
    ///     await world.machine("phone").inhabitProcessWide {
    ///         await world.advance(by: .seconds(10))
    ///         #expect(Thermometers.shared.latest == 21.5)
    ///     }
    /// }
    /// ```
    public func inhabitProcessWide<Result>(_ body: () async throws -> Result) async rethrows -> Result {
        await ProcessSeat.reserve(for: self)
        defer { ProcessSeat.release() }
        return try await inhabit(body)
    }
}

extension World {
    /// Has the process live in no world any more, after ``Machine/inhabitProcessWide()``.
    public static func leaveProcess() { ProcessSeat.move(to: nil) }
}
