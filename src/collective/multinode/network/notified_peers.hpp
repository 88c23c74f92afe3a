// Messages of a dissemination as puts with notifications (NOTIFY III): each of them has a place in the window
// of its receiver and a number there, known by how far it comes. So a sender waits for no receiver.
#pragma once

#include <coroutine>
#include <utility>
#include <vector>

#include "collective/multinode/network/partial_reductions.hpp"
#include "collective/multinode/network/window_ring.hpp"

namespace espalier::collective::multinode {

/// What one rank has under way in a call through a window. Its coroutines go on in drive_until().
template <network::Window W, class Node>
class NotifiedMessages {
 public:
  /// `node` copies out what has landed: NodeRanks or NodeOfOne.
  NotifiedMessages(W& window, WindowRing<W>& windows, Node node)
      : window_(window), windows_(windows), node_(node) {}

  WindowRing<W>& windows() const { return windows_; }
  bool has_come(std::size_t block) const { return windows_.has_come(block); }
  void wait_for(std::size_t block, std::coroutine_handle<> reader) { readers_.push_back({block, reader}); }
  void wait_for_flush(std::coroutine_handle<> sender) { senders_.push_back(sender); }
  void copy(void* target, const void* source, std::size_t bytes) { node_.copy(target, source, bytes); }
  std::size_t note_put() { return ++puts_; }
  bool is_flushed(std::size_t put) const { return put <= flushed_; }

  /// Until done(). A flush drives the window too, so it comes between two of the window's own waits.
  template <class Done>
  void drive_until(Done done) {
    for (bool over = false; !over;) {
      window_.drive_until([&] {
        deliver();
        over = done();
        return over || !senders_.empty();
      });
      window_.flush();
      flushed_ = puts_;
      for (const std::coroutine_handle<> sender : std::exchange(senders_, {})) sender.resume();
    }
  }

 private:
  struct Reader {
    std::size_t block;
    std::coroutine_handle<> reader;
  };

  /// Lets those go on whose message has come. They may start others, and wait again.
  void deliver() {
    for (std::size_t i = 0; i < readers_.size();) {
      if (!has_come(readers_[i].block)) {
        ++i;
        continue;
      }
      const std::coroutine_handle<> reader = readers_[i].reader;
      readers_.erase(readers_.begin() + static_cast<std::ptrdiff_t>(i));
      reader.resume();
      i = 0;
    }
  }

  W& window_;
  WindowRing<W>& windows_;
  Node node_;
  std::vector<Reader> readers_;
  std::vector<std::coroutine_handle<>> senders_;
  std::size_t puts_ = 0, flushed_ = 0;
};

/// Where the messages of one dissemination lie in the data of every node's half of the window: message m at
/// offset + m * room, with the number first + m.
struct Mailbox {
  std::size_t offset, room, first;
};

/// A Network of one rank for each node, for the algorithms of PartialReductions: one message at most goes
/// from one of them to another.
template <network::Window W, class Node>
class NotifiedPeers {
 public:
  NotifiedPeers(NotifiedMessages<W, Node>& messages, const Mailbox& box) : messages_(&messages), box_(box) {}

  int rank() const { return messages_->windows().node(); }
  int size() const { return messages_->windows().nodes(); }
  template <class Done>
  void drive_until(Done done) const {
    messages_->drive_until(done);
  }

  /// Sending or receiving, as algorithms keep both kinds in one list.
  class Message {
   public:
    bool await_ready() const {
      return target_ ? messages_->has_come(number_) : messages_->is_flushed(number_);
    }
    void await_suspend(std::coroutine_handle<> awaiting) const {
      if (target_)
        messages_->wait_for(number_, awaiting);
      else
        messages_->wait_for_flush(awaiting);
    }
    void await_resume() const {
      if (target_) messages_->copy(target_, landed_, bytes_);
    }

   private:
    friend NotifiedPeers;
    NotifiedMessages<W, Node>* messages_ = nullptr;
    std::size_t number_ = 0;  // of the block that comes, or of the put
    void* target_ = nullptr;
    const std::byte* landed_ = nullptr;
    std::size_t bytes_ = 0;
  };

  Message send(int peer, const void* source, std::size_t bytes) const {
    const std::size_t m = message(rank(), peer);
    messages_->windows().send_to(peer, box_.first + m, box_.offset + m * box_.room,
                                 static_cast<const std::byte*>(source), bytes);
    Message result;
    result.messages_ = messages_;
    result.number_ = messages_->note_put();
    return result;
  }
  Message receive(int peer, void* target, std::size_t bytes) const {
    const std::size_t m = message(peer, rank());
    Message result;
    result.messages_ = messages_;
    result.number_ = box_.first + m;
    result.target_ = target;
    result.landed_ = messages_->windows().data() + box_.offset + m * box_.room;
    result.bytes_ = bytes;
    return result;
  }

 private:
  std::size_t message(int from, int to) const {
    return static_cast<std::size_t>(PartialReductions(size()).message_from(around(to - from, size())));
  }

  NotifiedMessages<W, Node>* messages_;
  Mailbox box_;
};

}  // namespace espalier::collective::multinode
