//! Drives: a mobile that changes its access link again and again, beside cross traffic and the web
//! (algorithms.md, 4.8).
//!
//! [`cells`] is the small world of Chou and Shin: two routers, one flow, thousands of handoffs. For the rest
//! [`mobility`] says where the mobile is and when, [`web`] what the web's users ask for. [`network`] builds the testbed
//! with its [`hosts`], [`run`] takes the mobile through it. [`record`] is what remains, [`course`] what comes from
//! moment to moment.

pub mod cells;
pub mod course;
mod experiment;
pub mod hosts;
mod link_ids;
pub mod mobility;
pub mod network;
pub mod record;
pub mod run;
pub mod web;
